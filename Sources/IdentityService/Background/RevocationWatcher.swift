import Models
import Synchronization

/// News for one who watches ended sessions, put together from as many looks as there were since the last time.
struct RevocationUpdate: Sendable, Hashable {
    var sessionIDs: [SessionID] = []
    var accountChanges: [AccountChange] = []
    var sessionsFromMilliseconds: Int64?
    var position: RevocationPosition
    /// When the last look was begun, in Unix milliseconds.
    var toldAtMilliseconds: Int64
}

/// One who watches ended sessions: what waits to be told, bounded, and whether to stop. Any thread; putting never waits.
final class RevocationWatcher: Sendable {
    /// Sessions that wait for one watcher at most.
    static let sessionsMax = 20_000
    /// Changes of accounts that wait for one watcher at most; those beyond are dropped, since their owners find them in their lists.
    static let changesMax = 2_000
    /// How long news may lie there: a caller who takes none for longer is cut off.
    static let waitLimit: Duration = .seconds(10)

    /// Why a watcher is told no more.
    enum End: Int, CaseIterable, Sendable {
        /// It took the news too slowly, or more ended at once than can be handed on.
        case behind
        /// The server stops.
        case stopping
        /// The database isn't the one that it was.
        case database
    }

    private struct State {
        var news: RevocationUpdate?
        var since: ContinuousClock.Instant?
        var end: End?
    }

    let number: UInt64
    /// Whose it is, as far as that is counted.
    let caller: String
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<End>
    private let endings: AsyncStream<End>.Continuation

    init(number: UInt64, caller: String) {
        self.number = number
        self.caller = caller
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (ends, endings) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds news; false if it is too far behind to take them.
    func put(_ more: RevocationUpdate) -> Bool {
        let now = ContinuousClock.now
        let fits = state.withLock { state in
            if state.end != nil { return true }
            guard var news = state.news else {
                guard more.sessionIDs.count <= Self.sessionsMax else { return false }
                state.news = more
                state.since = now
                return true
            }
            if let since = state.since, now - since > Self.waitLimit { return false }
            guard news.sessionIDs.count + more.sessionIDs.count <= Self.sessionsMax else { return false }
            // Not two owners while it grows.
            state.news = nil
            news.sessionIDs += more.sessionIDs
            news.accountChanges += more.accountChanges.prefix(max(0, Self.changesMax - news.accountChanges.count))
            news.sessionsFromMilliseconds = more.sessionsFromMilliseconds ?? news.sessionsFromMilliseconds
            news.position = more.position
            news.toldAtMilliseconds = more.toldAtMilliseconds
            state.news = news
            return true
        }
        if fits { wake.yield() }
        return fits
    }

    /// The next news; nil at the end, or when the task is cancelled. One task takes them.
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

    /// Has it end, and drops what waits. Whether it is the first reason, which counts.
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

    /// Waits for its end; nil when the task is cancelled. One task waits.
    func ended() async -> End? {
        for await reason in ends { return reason }
        return nil
    }
}
