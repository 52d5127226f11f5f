import API
import InvitesDomain
import Synchronization

/// A gateway's stream: the bounded queue of its messages, and whether to stop. Any thread; putting never waits.
final class GroupEventStream: Sendable {
    /// The maximum of subscription ids and changes that wait for one gateway.
    static let waitingMax = 400_000
    /// The maximum of messages that wait for one gateway.
    static let messagesMax = 4_096
    /// How long a message may wait: a gateway that takes none for longer is disconnected.
    static let waitLimit: Duration = .seconds(10)

    /// Why a gateway's stream ends.
    enum End: Int, CaseIterable, Sendable {
        /// It took its messages too slowly.
        case behind
        /// The server stops.
        case stopping
    }

    private struct State {
        var messages: [InvitesV1.WatchGroupsResponse] = []
        var waiting = 0
        var since: ContinuousClock.Instant?
        var end: End?
    }

    let number: UInt64
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<End>
    private let endings: AsyncStream<End>.Continuation

    init(number: UInt64) {
        self.number = number
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (ends, endings) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a message; false if the gateway is too far behind to get it.
    func put(_ message: InvitesV1.WatchGroupsResponse) -> Bool {
        let now = ContinuousClock.now
        let size = message.waitingSize
        let fits = state.withLock { state in
            if state.end != nil { return true }
            if let since = state.since, now - since > Self.waitLimit { return false }
            guard state.messages.count < Self.messagesMax, state.waiting + size <= Self.waitingMax else { return false }
            if state.messages.isEmpty { state.since = now }
            state.messages.append(message)
            state.waiting += size
            return true
        }
        if fits { wake.yield() }
        return fits
    }

    /// The next messages; nil at the end, or when the task is cancelled. One task takes them.
    func next() async -> [InvitesV1.WatchGroupsResponse]? {
        for await _ in wakes {
            let (messages, isOver) = state.withLock { state in
                defer { (state.messages, state.waiting, state.since) = ([], 0, nil) }
                return (state.messages, state.end != nil)
            }
            if isOver { return nil }
            if !messages.isEmpty { return messages }
        }
        return nil
    }

    /// Ends the stream, and drops what waits. Returns whether this is the first reason, which counts.
    func end(_ reason: End) -> Bool {
        let isFirst = state.withLock { state in
            (state.messages, state.waiting) = ([], 0)
            guard state.end == nil else { return false }
            state.end = reason
            return true
        }
        guard isFirst else { return false }
        endings.yield(reason)
        wake.yield()
        return true
    }

    /// Waits for its end; nil when the task is cancelled. One task waits.
    func ended() async -> End? {
        for await reason in ends { return reason }
        return nil
    }
}

extension InvitesV1.WatchGroupsResponse {
    /// How much of ``GroupEventStream/waitingMax`` it takes.
    fileprivate var waitingSize: Int {
        switch news {
        case .begun(let begun): 1 + begun.changes.count
        case .changed(let news): news.watched.reduce(1) { $0 + $1.watchIds.count + $1.changes.count }
        case .refused, nil: 1
        }
    }
}
