import Models
import Synchronization

/// An update for a watcher of ended sessions, merged from all looks since the last update.
struct RevocationUpdate: Sendable, Hashable {
    var sessionIDs: [SessionID] = []
    var accountChanges: [AccountChange] = []
    var sessionsFromMilliseconds: Int64?
    var position: RevocationPosition
    /// When the last look was begun, in Unix milliseconds.
    var toldAtMilliseconds: Int64
    /// The same by a clock that nobody sets.
    var readAt = ContinuousClock.now
}

/// A watcher of ended sessions: the bounded update that waits to be sent, and whether to stop. Any thread; ``put(_:)`` never waits.
final class RevocationWatcher: Sendable {
    /// Sessions that wait for one watcher at most.
    static let sessionsMax = 20_000
    /// Changes of accounts that wait for one watcher at most; those beyond are dropped, since users find them in their own lists.
    static let changesMax = 2_000
    /// How long an update may wait: a caller that takes none for longer is cut off.
    static let waitLimit: Duration = .seconds(10)

    /// Why a watcher gets no more updates.
    enum End: Int, CaseIterable, Sendable {
        /// It took updates too slowly, or more sessions ended at once than can be sent.
        case behind
        /// The server stops.
        case stopping
        /// The database is another one than before.
        case database
    }

    private struct State {
        var news: RevocationUpdate?
        var since: ContinuousClock.Instant?
        /// When the last update was put.
        var putAt: ContinuousClock.Instant?
        var end: End?
    }

    let number: UInt64
    /// The caller; watchers are counted for each caller.
    let caller: String
    /// The longest time between two updates.
    let heartbeat: Duration
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<End>
    private let endings: AsyncStream<End>.Continuation

    init(number: UInt64, caller: String, heartbeat: Duration) {
        self.number = number
        self.caller = caller
        self.heartbeat = heartbeat
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (ends, endings) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether an update without news is due: the look after this one may be half of the time later.
    func isDue(_ now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in state.putAt.map { now - $0 >= heartbeat / 2 } ?? true }
    }

    /// Adds an update. Returns false if the watcher is too far behind to take it.
    func put(_ more: RevocationUpdate) -> Bool {
        let now = ContinuousClock.now
        let fits = state.withLock { state in
            if state.end != nil { return true }
            state.putAt = now
            guard var news = state.news else {
                guard more.sessionIDs.count <= Self.sessionsMax else { return false }
                state.news = more
                state.since = now
                return true
            }
            if let since = state.since, now - since > Self.waitLimit { return false }
            guard news.sessionIDs.count + more.sessionIDs.count <= Self.sessionsMax else { return false }
            // A single owner while it grows, so that its arrays aren't copied.
            state.news = nil
            news.sessionIDs += more.sessionIDs
            news.accountChanges += more.accountChanges.prefix(max(0, Self.changesMax - news.accountChanges.count))
            news.sessionsFromMilliseconds = more.sessionsFromMilliseconds ?? news.sessionsFromMilliseconds
            news.position = more.position
            news.toldAtMilliseconds = more.toldAtMilliseconds
            news.readAt = more.readAt
            state.news = news
            return true
        }
        if fits { wake.yield() }
        return fits
    }

    /// The next update; nil at the end, or when the task is cancelled. For one task only.
    func next() async -> RevocationUpdate? {
        for await _ in wakes {
            let (news, isOver) = state.withLock { state in
                defer { state.news = nil }
                return (state.news, state.end != nil)
            }
            if isOver { return nil }
            if let news { return news }
        }
        return nil
    }

    /// Ends the watcher and drops the waiting update. Returns whether this is the first reason; only the first counts.
    func end(_ reason: End) -> Bool {
        let isFirst = state.withLock { state in
            state.news = nil
            guard state.end == nil else { return false }
            state.end = reason
            return true
        }
        guard isFirst else { return false }
        endings.yield(reason)
        wake.yield()
        return true
    }

    /// Waits for the end; nil when the task is cancelled. For one task only.
    func ended() async -> End? {
        for await reason in ends { return reason }
        return nil
    }
}
