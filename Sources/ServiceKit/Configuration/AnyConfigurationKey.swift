/// A configuration key without its type: what `--help` and the check of all keys need to know.
public protocol AnyConfigurationKey: Sendable {
    /// The environment variable, such as `VESTIBULE_IDENTITY_LISTEN`.
    var name: String { get }
    /// What kind of value it takes, in a word or two for `--help`.
    var kind: String { get }
    /// The default as `--help` prints it; nil if there is none.
    var defaultText: String? { get }
    /// Whether a value must be given.
    var isRequired: Bool { get }
    /// Whether the value may also be given as `NAME_FILE`, the path of a file that holds it.
    var takesFile: Bool { get }
    /// The names that it had before, which still count, each with a warning.
    var formerNames: [String] { get }
    /// What it is for, in one sentence.
    var help: String { get }

    /// The key's value from the input, in a `ConfigurationValue` box of its type.
    func resolve(_ input: ConfigurationInput) throws(ConfigurationProblem) -> any Sendable
}

/// The box in which a configuration holds a key's value, so that optional values keep their type.
struct ConfigurationValue<Value: Sendable>: Sendable {
    let value: Value
}
