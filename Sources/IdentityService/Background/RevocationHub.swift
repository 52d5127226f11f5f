import Logging
import Models
import Postgres
import ServiceKit
import Synchronization

/// Looks for ended sessions for all watchers of this replica, and only while there is one. It looks at once when this replica has
/// ended sessions or another one notifies it, and each `pollInterval` in any case.
///
/// A look reads the rows that are visible and that the one before did not read (``RevocationLog``), so nothing is missed, whenever it is
/// committed. A watcher joins here before it reads the earlier ended sessions by itself, and it reads them after there was a look:
/// a later look sees the rows that the watcher's own reading does not.
///
/// Any thread; locks are held for moments only, and no call waits for a look.
final class RevocationHub: Sendable {
    /// The limits.
    struct Limits: Sendable {
        /// How often to look without a notification.
        var pollInterval: Duration = .milliseconds(80)
        /// How long to gather announcements before a look, and so the least time between two looks.
        var gatheringTime: Duration = .milliseconds(2)
        /// The longest time between two messages to a watcher that asks for no shorter one.
        var heartbeat: Duration = .seconds(1)
        /// The shortest that a watcher may ask for: a little more than the time between two looks.
        var heartbeatMin: Duration = .milliseconds(100)
        /// The maximum of concurrent watchers.
        var watchersMax = 256
        /// The maximum of one caller, by the names in its certificate or its address.
        var watchersPerCallerMax = 64
        /// Sessions that one look reads. If more end at once, the watchers' streams end, and they read the sessions page by page
        /// instead.
        var sessionsPerLookMax = 10_000
        /// Changes of accounts that one look reads. Changes beyond it appear only in the users' own lists.
        var changesPerLookMax = 1_000
        /// Sessions on a page of those that had ended before.
        var sessionsPerPage = 1_000
        /// Transactions whose sessions are sent again; see ``SnapshotRevocationLog``.
        var transactionsInDoubt: UInt64 = 10_000
    }

    private struct State {
        var watchers: [UInt64: RevocationWatcher] = [:]
        var lastNumber: UInt64 = 0
        var isStopping = false
        /// The result of the last look; nil while there are no watchers, and until there was a look.
        var known: Known?
        /// Since when looks fail; nil if the last one did not.
        var failingSince: ContinuousClock.Instant?
    }

    private struct Known {
        var seen: RevocationsSeen
        let database: DatabaseIdentity
        var sessionsFromMilliseconds: Int64
        /// The first update of a new watcher: without sessions, since it reads these by itself.
        var news: RevocationUpdate
    }

    let limits: Limits
    private let state = Mutex(State())
    private let bell = CoalescingSignal()
    private let announcements: AsyncStream<Void>
    private let announcement: AsyncStream<Void>.Continuation
    private let watched: AsyncStream<Void>
    private let isWatched: AsyncStream<Void>.Continuation
    private let store: IdentityStore
    let log: any RevocationLog
    private let clock: WallClock
    private let logger: Logger
    let counts = RevocationCounts()

    /// A hub without watchers.
    init(store: IdentityStore, limits: Limits = Limits(), clock: WallClock, logger: Logger) {
        self.store = store
        log = store.revocationLog(transactionsInDoubt: limits.transactionsInDoubt)
        self.limits = limits
        self.clock = clock
        self.logger = logger
        (announcements, announcement) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (watched, isWatched) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// To be called after this replica has committed ended sessions: makes all replicas look. Never waits.
    func announce() {
        bell.ring()
        announcement.yield()
    }

    /// Why a caller may not watch.
    enum Refusal: Error, Hashable {
        /// There are too many watchers.
        case tooMany
        /// The server stops.
        case stopping
    }

    /// Adds a watcher, which gets its first update after a look. It must be passed to ``leave(_:)`` in the end.
    ///
    /// - Parameter heartbeat: the longest time between two updates that the watcher asks for; nil for the longest there is.
    func join(caller: String, heartbeat: Duration? = nil) throws(Refusal) -> RevocationWatcher {
        let heartbeat = min(limits.heartbeat, max(limits.heartbeatMin, heartbeat ?? limits.heartbeat))
        let (watcher, refusal) = state.withLock { state -> (RevocationWatcher?, Refusal?) in
            if state.isStopping { return (nil, .stopping) }
            let own = state.watchers.values.count { $0.caller == caller }
            guard state.watchers.count < limits.watchersMax, own < limits.watchersPerCallerMax else {
                return (nil, .tooMany)
            }
            state.lastNumber += 1
            let watcher = RevocationWatcher(number: state.lastNumber, caller: caller, heartbeat: heartbeat)
            state.watchers[watcher.number] = watcher
            // Under the lock, so that updates of later looks come after it.
            if let known = state.known { _ = watcher.put(known.news) }
            return (watcher, nil)
        }
        guard let watcher else {
            counts.countRefusal()
            throw refusal ?? .tooMany
        }
        bell.ring()
        isWatched.yield()
        return watcher
    }

    /// Removes a watcher.
    func leave(_ watcher: RevocationWatcher) {
        state.withLock { state in
            state.watchers[watcher.number] = nil
            guard state.watchers.isEmpty else { return }
            // The next watcher begins anew.
            (state.known, state.failingSince) = (nil, nil)
        }
    }

    /// Ends all streams and refuses new watchers: the server stops.
    func stop() {
        state.withLock { $0.isStopping = true }
        endAll(.stopping)
    }

    /// Looks, listens and notifies until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.look() }
            group.addTask { await self.notify() }
            group.addTask {
                // Opens a database connection only once there is a watcher.
                for await _ in self.watched { break }
                guard !Task.isCancelled, let channel = self.log.channel else { return }
                await self.store.database.listen(on: channel) { self.bell.ring() }
            }
        }
    }

    /// The number of watchers.
    var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// How long looks have failed while there are watchers; zero if they don't fail.
    var failingTime: Duration {
        guard let since = state.withLock({ $0.failingSince }) else { return .zero }
        return ContinuousClock.now - since
    }

    private func look() async {
        while !Task.isCancelled {
            let isWatched = watcherCount > 0
            if isWatched { await lookOnce() }
            await bell.wait(atMost: isWatched ? limits.pollInterval : .seconds(3_600))
            try? await Task.sleep(for: limits.gatheringTime)
        }
    }

    /// Looks once, and sends the result to all watchers. One look at a time.
    private func lookOnce() async {
        let (now, begun) = (clock.nowMilliseconds, ContinuousClock.now)
        let earlier = state.withLock { $0.known?.seen }
        do {
            let read = try await log.read(
                since: earlier,
                limit: limits.sessionsPerLookMax,
                changesMax: limits.changesPerLookMax
            )
            publish(read, lookedAtMilliseconds: now, readAt: begun)
        } catch {
            guard !Task.isCancelled else { return }
            let isFirst = state.withLock { state in
                defer { state.failingSince = state.failingSince ?? .now }
                // The server may have crashed meanwhile.
                if state.failingSince == nil, let known = state.known {
                    state.known?.seen = log.certain(of: known.seen)
                }
                return state.failingSince == nil
            }
            if isFirst {
                logger.warning("ended sessions can't be read: watchers hear nothing", metadata: ["cause": "\(error)"])
            }
        }
    }

    private func publish(_ read: RevocationsRead, lookedAtMilliseconds: Int64, readAt: ContinuousClock.Instant) {
        let isCut = read.sessionIDs.count >= limits.sessionsPerLookMax
        let isOther = state.withLock { $0.known.map { $0.database != read.database } ?? false }
        if isCut || isOther {
            logger.warning(
                isOther
                    ? "the database is another one: watchers begin anew" : "too many sessions ended at once to list",
                metadata: ["watchers": "\(watcherCount)"]
            )
            return endAll(isOther ? .database : .behind)
        }
        let slow = state.withLock { state -> [RevocationWatcher] in
            state.failingSince = nil
            guard !state.watchers.isEmpty else { return [] }
            let isFirst = state.known == nil
            let isMoved = state.known?.sessionsFromMilliseconds != read.sessionsFromMilliseconds
            var news = RevocationUpdate(
                sessionsFromMilliseconds: read.sessionsFromMilliseconds,
                position: RevocationPosition(
                    database: read.database,
                    horizon: read.seen.horizon,
                    madeAtSeconds: lookedAtMilliseconds / 1000
                ),
                toldAtMilliseconds: lookedAtMilliseconds,
                readAt: readAt
            )
            state.known = Known(
                seen: read.seen,
                database: read.database,
                sessionsFromMilliseconds: read.sessionsFromMilliseconds,
                news: news
            )
            let now = ContinuousClock.now
            let isNew = isFirst || isMoved || !read.sessionIDs.isEmpty || !read.accountChanges.isEmpty
            news.sessionIDs = read.sessionIDs
            news.accountChanges = read.accountChanges
            if !isMoved { news.sessionsFromMilliseconds = nil }
            counts.countTold(read.sessionIDs.count * state.watchers.count)
            return state.watchers.values.filter { (isNew || $0.isDue(now)) && !$0.put(news) }
        }
        for watcher in slow { end(watcher, .behind) }
    }

    private func end(_ watcher: RevocationWatcher, _ reason: RevocationWatcher.End) {
        if watcher.end(reason) { counts.count(reason) }
    }

    private func endAll(_ reason: RevocationWatcher.End) {
        let all = state.withLock { state in
            defer { (state.watchers, state.known) = ([:], nil) }
            return Array(state.watchers.values)
        }
        for watcher in all { end(watcher, reason) }
    }

    /// Sends one notification for all announcements meanwhile. A failed one is not retried: the other replicas poll.
    private func notify() async {
        for await _ in announcements {
            try? await Task.sleep(for: limits.gatheringTime)
            try? await log.notify()
        }
    }
}
