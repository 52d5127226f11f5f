/// Why the local stack can't start, or had to stop: one line for people.
public struct StackError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// An error in words.
    public init(_ description: String) { self.description = description }
}
