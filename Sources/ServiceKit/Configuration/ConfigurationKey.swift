/// A configuration key with the type of its value. Declared once, as a constant beside the code that uses it.
public struct ConfigurationKey<Value: Sendable>: AnyConfigurationKey {
    /// The environment variable.
    public let name: String
    /// What kind of value it takes.
    public let kind: String
    /// The default as `--help` prints it.
    public let defaultText: String?
    /// Whether a value must be given.
    public let isRequired: Bool
    /// Whether `NAME_FILE` is understood too.
    public let takesFile: Bool
    /// The names that it had before, which still count, each with a warning.
    public let formerNames: [String]
    /// What it is for.
    public let help: String
    private let read: @Sendable (ConfigurationInput) throws(ConfigurationProblem) -> Value

    /// A key that reads its value as it likes; the factories below cover the usual kinds.
    init(
        _ name: String,
        kind: String,
        defaultText: String?,
        isRequired: Bool,
        takesFile: Bool = false,
        formerNames: [String] = [],
        help: String,
        read: @escaping @Sendable (ConfigurationInput) throws(ConfigurationProblem) -> Value
    ) {
        precondition(
            name.hasPrefix(ConfigurationNames.prefix) || name.hasPrefix(ConfigurationNames.standardPrefix)
                || ConfigurationNames.custom.contains(name),
            "\(name) must begin with \(ConfigurationNames.prefix)"
        )
        self.name = name
        self.kind = kind
        self.defaultText = defaultText
        self.isRequired = isRequired
        self.takesFile = takesFile
        self.formerNames = formerNames
        self.help = help
        self.read = read
    }

    /// A key with one text value, given or the default, that `parse` understands.
    init(
        _ name: String,
        kind: String,
        defaultText: String?,
        help: String,
        parse: @escaping @Sendable (String) throws(ConfigurationProblem) -> Value
    ) {
        self.init(name, kind: kind, defaultText: defaultText, isRequired: defaultText == nil, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let text = input.text(name) ?? defaultText else { throw ConfigurationProblem("is required") }
            return try parse(text)
        }
    }

    /// This key, which may also be given by names that it had before.
    public func formerly(_ formerNames: String...) -> ConfigurationKey {
        precondition(!takesFile, "a file is given by its name of today")
        return ConfigurationKey(
            name,
            kind: kind,
            defaultText: defaultText,
            isRequired: isRequired,
            formerNames: formerNames,
            help: help
        ) { (input) throws(ConfigurationProblem) in
            try read(input.renaming(formerNames, to: name))
        }
    }

    /// The value from the input.
    func value(_ input: ConfigurationInput) throws(ConfigurationProblem) -> Value { try read(input) }

    /// The value from the input, boxed.
    public func resolve(_ input: ConfigurationInput) throws(ConfigurationProblem) -> any Sendable {
        ConfigurationValue(value: try read(input))
    }
}
