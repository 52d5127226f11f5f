extension ConfigurationKey where Value == Secret {
    /// A password or key: `NAME=value`, or `NAME_FILE=path` of a file that holds it (a last line end is dropped).
    public static func secret(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "secret", defaultText: nil, isRequired: true, takesFile: true, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let secret = try textOrFile(name, input) else { throw ConfigurationProblem("is required") }
            return secret
        }
    }

    /// The content of a file whose path is given: a PEM key, or raw bytes, taken as they are.
    public static func secretFile(
        _ name: String,
        default: String? = nil,
        help: String,
        bytesMax: Int = 65_536
    ) -> ConfigurationKey {
        ConfigurationKey(
            name,
            kind: "path of a secret",
            defaultText: `default`,
            isRequired: `default` == nil,
            help: help
        ) { (input) throws(ConfigurationProblem) in
            guard let path = input.text(name) ?? `default` else { throw ConfigurationProblem("is required") }
            return Secret(try fileContent(path, input, bytesMax: bytesMax))
        }
    }
}

extension ConfigurationKey where Value == Secret? {
    /// A password or key that may be left out; given as `secret` is.
    public static func optionalSecret(_ name: String, help: String) -> ConfigurationKey {
        ConfigurationKey(name, kind: "secret", defaultText: nil, isRequired: false, takesFile: true, help: help) {
            (input) throws(ConfigurationProblem) in
            try textOrFile(name, input)
        }
    }

    /// The content of a file whose path may be given.
    ///
    /// - Parameter emptyIsNone: whether an empty file counts as none given, and is no fault: for a file that is always
    ///   there, and now and then holds something.
    public static func optionalSecretFile(
        _ name: String,
        help: String,
        bytesMax: Int = 65_536,
        emptyIsNone: Bool = false
    ) -> ConfigurationKey {
        ConfigurationKey(name, kind: "path of a secret", defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let path = input.text(name) else { return nil }
            let bytes = try fileContent(path, input, bytesMax: bytesMax, mayBeEmpty: emptyIsNone)
            return bytes.isEmpty ? nil : Secret(bytes)
        }
    }
}

/// What a key that understands `NAME_FILE` too was given.
func textOrFile(_ name: String, _ input: ConfigurationInput) throws(ConfigurationProblem) -> Secret? {
    let fileName = name + ConfigurationNames.fileSuffix
    switch (input.text(name), input.text(fileName)) {
    case (.some, .some): throw ConfigurationProblem("is given twice, once as \(fileName)")
    case (.some(let text), nil): return Secret(text)
    case (nil, nil): return nil
    case (nil, .some(let path)):
        var bytes = try fileContent(path, input, bytesMax: 65_536)
        // Editors and `echo` end files with a line end that isn't meant.
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw ConfigurationProblem("names the file \(path), which is empty") }
        return Secret(bytes)
    }
}

/// The bytes of a file that a key, or a file of one, names.
func fileContent(
    _ path: String,
    _ input: ConfigurationInput,
    bytesMax: Int,
    mayBeEmpty: Bool = false
) throws(ConfigurationProblem) -> [UInt8] {
    let bytes: [UInt8]
    do {
        bytes = try input.readFile(path, bytesMax)
    } catch {
        throw ConfigurationProblem("names the file \(path), which \(error.description)")
    }
    guard mayBeEmpty || !bytes.isEmpty else { throw ConfigurationProblem("names the file \(path), which is empty") }
    return bytes
}
