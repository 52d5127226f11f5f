/// Where keys look up what was given: a pure function of name, and a reader of secret files.
public struct ConfigurationInput: Sendable {
    let text: @Sendable (_ name: String) -> String?
    let readFile: @Sendable (_ path: String, _ bytesMax: Int) throws(FileError) -> [UInt8]

    /// This input, in which what is given by former names is given by the name of today.
    ///
    /// - Throws: the problem of a key that is given by two names with different values.
    func renaming(_ formerNames: [String], to name: String) throws(ConfigurationProblem) -> ConfigurationInput {
        let given = ([name] + formerNames).compactMap { name in text(name).map { (name: name, text: $0) } }
        guard let first = given.first else { return self }
        if let other = given.first(where: { Self.words($0.text) != Self.words(first.text) }) {
            throw ConfigurationProblem("is given as \(first.name) and as \(other.name), with different values")
        }
        return ConfigurationInput(text: { [text] in $0 == name ? first.text : text($0) }, readFile: readFile)
    }

    /// What a value says: a list says the same in any order.
    private static func words(_ text: String) -> Set<Substring> {
        Set(text.split(separator: ",").map(\.trimmingSpaces))
    }
}

/// What is wrong with the value of one key, as a clause that follows its name. Never holds a secret.
public struct ConfigurationProblem: Error, Hashable, Sendable {
    /// The clause, such as `is required`.
    public let text: String

    /// A problem in words.
    public init(_ text: String) { self.text = text }
}
