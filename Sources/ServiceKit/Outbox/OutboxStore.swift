import RPC

/// An event that waits in an outbox.
public protocol OutboxEvent: Sendable {
    /// How often the receiver has failed on this event when it came alone.
    var failureCount: Int { get }
    /// The span of the write that made it, where that is known: what is told of it belongs to the same trace.
    var trace: TraceContext? { get }
}

/// Where a service's outbox is kept. The service writes the SQL; `OutboxRelay` decides when and what.
///
/// Events that must stay in order (of one phone number, say) share a key. Nothing overtakes an event of its own key, also
/// not while that event waits to be tried again or is set aside.
public protocol OutboxStore: Sendable {
    /// One event, as the receiver needs it.
    associatedtype Event: OutboxEvent

    /// Hands on one batch, in one transaction: makes sure that no other process does the same (`.busy` if one does),
    /// reads the oldest events that may be delivered now (`.empty` if there are none), calls `deliver` once, does what
    /// it says, and commits. An event that has failed before comes alone.
    ///
    /// If the process dies on the way, the transaction rolls back and the events are delivered again: receivers apply
    /// an event once by its id.
    ///
    /// - Parameters:
    ///   - limit: the most events to read.
    ///   - deliver: never throws; says what is to become of the events.
    /// - Returns: what was committed. Throws if it isn't known to be.
    func relayBatch(
        limit: Int,
        deliver: @Sendable ([Event]) async -> OutboxVerdict
    ) async throws -> OutboxBatch

    /// What waits to be delivered; cheap enough to be asked every few seconds.
    func backlog() async throws -> OutboxBacklog
}

/// What is to become of a batch.
public enum OutboxVerdict: Sendable, Hashable {
    /// The receiver has taken all: they are forgotten.
    case delivered
    /// All stay as they are.
    case kept
    /// For a batch of one: the receiver failed on it. It counts one failure more and is not tried again before the wait
    /// is over, nor is a later event of its key.
    case postponed(wait: Duration, reason: String)
    /// For a batch of one: it will not be tried again, and holds up its key, until somebody has looked at it.
    case setAside(reason: String)
}

/// What a store did about a batch.
public enum OutboxBatch: Sendable, Hashable {
    /// Another process relays this outbox now.
    case busy
    /// Nothing waits that may be delivered now.
    case empty
    /// So many events were handed to `deliver`, and what it said of them is committed.
    case handled(eventCount: Int)
    /// So many entries hold no event that can be read; they were set aside, and that is committed.
    case unreadable(eventCount: Int)
}
