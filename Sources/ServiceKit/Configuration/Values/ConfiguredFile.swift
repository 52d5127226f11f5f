/// A file that a key names, and that may name others itself.
public struct ConfiguredFile: Sendable {
    /// Where it is.
    public let path: String
    /// What it holds.
    public let content: Secret
    private let input: ConfigurationInput

    init(path: String, content: Secret, input: ConfigurationInput) {
        self.path = path
        self.content = content
        self.input = input
    }

    /// The file as it is now.
    ///
    /// - Throws: the problem as a clause.
    public func reread(bytesMax: Int) throws(ConfigurationProblem) -> ConfiguredFile {
        let bytes = try fileContent(path, input, bytesMax: bytesMax)
        return ConfiguredFile(path: path, content: Secret(bytes), input: input)
    }

    /// What a file holds that this one names. A relative name is from the folder of this one.
    ///
    /// - Throws: the problem as a clause, such as `names the file keys/a.p8, which is empty`.
    public func read(_ name: String, bytesMax: Int) throws(ConfigurationProblem) -> Secret {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        return Secret(try fileContent(name.hasPrefix("/") ? name : folder + name, input, bytesMax: bytesMax))
    }
}

extension ConfigurationKey where Value == ConfiguredFile? {
    /// A file whose path may be given, which may name others.
    public static func optionalFile(_ name: String, help: String, bytesMax: Int = 65_536) -> ConfigurationKey {
        ConfigurationKey(name, kind: "path of a secret", defaultText: nil, isRequired: false, help: help) {
            (input) throws(ConfigurationProblem) in
            guard let path = input.text(name) else { return nil }
            let bytes = try fileContent(path, input, bytesMax: bytesMax)
            return ConfiguredFile(path: path, content: Secret(bytes), input: input)
        }
    }
}
