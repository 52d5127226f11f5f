/// Why a run can't be made: one line for people.
public struct LoadError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// An error in words.
    public init(_ description: String) { self.description = description }
}
