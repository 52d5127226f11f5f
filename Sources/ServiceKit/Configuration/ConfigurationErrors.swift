/// One thing wrong with the configuration.
public struct ConfigurationError: Hashable, Sendable, CustomStringConvertible {
    /// The key at fault, or the file.
    public let key: String
    /// What is wrong, as a clause after the key. Never holds a secret's value.
    public let problem: String

    /// A fault of a key.
    public init(key: String, problem: String) {
        self.key = key
        self.problem = problem
    }

    /// One line.
    public var description: String { "\(key) \(problem)" }
}

extension [ConfigurationError] {
    /// What `read` gives. If it throws, its faults join these, so that all are reported together.
    public mutating func collect<Value>(_ read: () throws(ConfigurationErrors) -> Value) -> Value? {
        do throws(ConfigurationErrors) {
            return try read()
        } catch {
            self += error.faults
            return nil
        }
    }
}

/// Everything that is wrong with the configuration, reported at once.
public struct ConfigurationErrors: Error, Hashable, Sendable, CustomStringConvertible {
    /// The faults, in the order of the keys.
    public let faults: [ConfigurationError]

    /// Faults to report together.
    public init(_ faults: [ConfigurationError]) { self.faults = faults }

    /// One line a fault.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}
