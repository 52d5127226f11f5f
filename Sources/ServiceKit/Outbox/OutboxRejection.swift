/// Thrown by a delivery when the receiver will never take the event, however often it is sent.
public struct OutboxRejection: Error, Sendable, Hashable {
    /// Why, without anything of a person.
    public let reason: String

    /// A rejection.
    public init(reason: String) { self.reason = reason }
}
