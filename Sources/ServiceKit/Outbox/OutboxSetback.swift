/// Thrown by a delivery when the receiver is there but failed on these events, or took too long for them: fewer at once
/// may succeed, and one that fails alone is tried a bounded number of times.
public struct OutboxSetback: Error, Sendable {
    /// What it failed with, as a stable word and without anything of a person.
    public let reason: String
    /// For the log.
    public let cause: any Error
    /// Whether it may be the event that is at fault. One that isn't is tried again for ever, and never set aside.
    public let isEventAtFault: Bool

    /// A setback.
    public init(reason: String, cause: any Error, isEventAtFault: Bool = true) {
        self.reason = reason
        self.cause = cause
        self.isEventAtFault = isEventAtFault
    }
}
