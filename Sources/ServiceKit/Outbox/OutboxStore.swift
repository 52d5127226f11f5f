/// Where a service's outbox is kept. The service writes the SQL; `OutboxRelay` decides when and what.
public protocol OutboxStore: Sendable {
    /// One event, as the receiver needs it.
    associatedtype Event: Sendable

    /// Hands on one batch, in one transaction: takes the outbox's advisory lock (`.busy` if another process has it),
    /// reads the oldest undelivered events (`.empty` if there are none), calls `deliver`, marks those that were handled
    /// as delivered and those that were rejected as set aside, and commits.
    ///
    /// If the process dies on the way, the transaction rolls back and the events are delivered again: receivers apply
    /// an event once by its id.
    ///
    /// - Parameters:
    ///   - limit: the most events to read.
    ///   - deliver: never throws; says how far it came.
    func relayBatch(
        limit: Int,
        deliver: @Sendable ([Event]) async -> OutboxVerdict
    ) async throws -> OutboxBatch

    /// What waits to be delivered; cheap enough to be asked every few seconds.
    func backlog() async throws -> OutboxBacklog
}

/// What waits in an outbox.
public struct OutboxBacklog: Sendable, Hashable {
    /// Events that wait; stores may stop counting somewhere past ten thousand.
    public var eventCount: Int
    /// For how long the oldest has waited; zero without any.
    public var oldestAge: Duration

    /// A backlog.
    public init(eventCount: Int = 0, oldestAge: Duration = .zero) {
        self.eventCount = eventCount
        self.oldestAge = oldestAge
    }
}

/// How far the delivery of a batch came.
public struct OutboxVerdict: Sendable, Hashable {
    /// How many events, from the first, need not be delivered again.
    public var handledCount: Int
    /// Those among them, by index, that the receiver will never take, with the reason: kept for people to look at.
    public var rejected: [Int: String]

    /// A verdict.
    public init(handledCount: Int, rejected: [Int: String] = [:]) {
        self.handledCount = handledCount
        self.rejected = rejected
    }
}

/// What a store did about a batch.
public enum OutboxBatch: Sendable, Hashable {
    /// Another process relays this outbox now.
    case busy
    /// Nothing waits.
    case empty
    /// So many events were read, and so many of them handled.
    case handled(read: Int, delivered: Int)
}

/// Thrown by a delivery when the receiver will never take the event, however often it is sent.
public struct OutboxRejection: Error, Sendable, Hashable {
    /// Why, without anything of a person.
    public let reason: String

    /// A rejection.
    public init(reason: String) { self.reason = reason }
}
