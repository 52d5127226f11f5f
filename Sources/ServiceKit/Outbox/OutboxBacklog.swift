/// What waits in an outbox.
public struct OutboxBacklog: Sendable, Hashable {
    /// Events that wait; stores may stop counting somewhere past ten thousand.
    public var eventCount: Int
    /// For how long the oldest has waited; zero without any.
    public var oldestAge: Duration
    /// Events that were set aside, and those that wait behind one of them until somebody has looked at it; counted likewise.
    public var setAsideCount: Int

    /// A backlog.
    public init(eventCount: Int = 0, oldestAge: Duration = .zero, setAsideCount: Int = 0) {
        self.eventCount = eventCount
        self.oldestAge = oldestAge
        self.setAsideCount = setAsideCount
    }
}
