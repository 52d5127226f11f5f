import Logging
import Models
import Postgres
import ServiceKit
import Synchronization

/// Looks for sessions that ended, for all who watch at this replica, and only while somebody does: at once when this replica
/// has ended some or another one notifies it, and each `pollInterval` in any case.
///
/// A look reads what its snapshot of the database sees and the one before did not, so nothing is passed over, whenever it is
/// committed. A watcher is known here before it reads what ended earlier by itself, and reads after there was a look: what
/// that reading doesn't see, a later look does.
///
/// Any thread; nothing waits for a lock but for moments, and no call waits for a look.
final class RevocationHub: Sendable {
    /// The bounds.
    struct Limits: Sendable {
        /// How often to look without being told.
        var pollInterval: Duration = .milliseconds(100)
        /// How long those who tell at the same time are gathered, and so the least time between two looks.
        var gatheringTime: Duration = .milliseconds(2)
        /// The longest time between two messages to a watcher.
        var heartbeat: Duration = .seconds(1)
        /// Watchers at once.
        var watchersMax = 256
        /// Of one caller, by the names in its certificate or its address.
        var watchersPerCallerMax = 64
        /// Sessions that one look reads. Who watches while more end at once reads them page by page instead.
        var sessionsPerLookMax = 10_000
        /// Changes of accounts that one look reads. Those beyond are found in the lists of their owners alone.
        var changesPerLookMax = 1_000
        /// Sessions on a page of those that ended before.
        var sessionsPerPage = 1_000
        /// Transactions before a position, or before a failure, whose sessions are told again. A server that crashes may give the
        /// numbers of transactions that came to nothing to others, which would seem to be over since before.
        var transactionsInDoubt: UInt64 = 10_000
    }

    private struct State {
        var watchers: [UInt64: RevocationWatcher] = [:]
        var lastNumber: UInt64 = 0
        var isStopping = false
        /// What is known from looking; nil while nobody watches, and until there was a look.
        var known: Known?
        /// When watchers were told something last.
        var toldAt: ContinuousClock.Instant?
        /// Since when looks fail; nil if the last one did not.
        var failingSince: ContinuousClock.Instant?
    }

    private struct Known {
        var snapshot: RevocationSnapshot
        let database: DatabaseIdentity
        var sessionsFromMilliseconds: Int64
        /// What those get who come now: no sessions, since they read these by themselves.
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
    private let clock: WallClock
    private let logger: Logger
    let counts = RevocationCounts()

    /// Without watchers yet.
    init(store: IdentityStore, limits: Limits = Limits(), clock: WallClock, logger: Logger) {
        self.store = store
        self.limits = limits
        self.clock = clock
        self.logger = logger
        (announcements, announcement) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (watched, isWatched) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Sessions were ended by this replica, and it is committed: has all replicas look. Never waits.
    func announce() {
        bell.ring()
        announcement.yield()
    }

    /// Why somebody may not watch.
    enum Refusal: Error, Hashable {
        /// Too many watch.
        case tooMany
        /// The server stops.
        case stopping
    }

    /// Takes in a watcher, who gets its first news when there was a look. It must be given back to ``leave(_:)``.
    func join(caller: String) throws(Refusal) -> RevocationWatcher {
        let (watcher, refusal) = state.withLock { state -> (RevocationWatcher?, Refusal?) in
            if state.isStopping { return (nil, .stopping) }
            let own = state.watchers.values.count { $0.caller == caller }
            guard state.watchers.count < limits.watchersMax, own < limits.watchersPerCallerMax else {
                return (nil, .tooMany)
            }
            state.lastNumber += 1
            let watcher = RevocationWatcher(number: state.lastNumber, caller: caller)
            state.watchers[watcher.number] = watcher
            // Under the lock: a later look's news come after it.
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

    /// Lets a watcher go.
    func leave(_ watcher: RevocationWatcher) {
        state.withLock { state in
            state.watchers[watcher.number] = nil
            guard state.watchers.isEmpty else { return }
            // The next one begins anew.
            (state.known, state.failingSince) = (nil, nil)
        }
    }

    /// Ends all streams, and takes in nobody any more: the server stops.
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
                // A connection to the database for those only who need it.
                for await _ in self.watched { break }
                if Task.isCancelled { return }
                await self.store.database.listen(on: IdentityStore.revocationChannel) { self.bell.ring() }
            }
        }
    }

    /// How many watch.
    var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// For how long looks have failed while somebody watches; zero if they don't.
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

    /// One look, and what it saw to all watchers. One at a time.
    private func lookOnce() async {
        let now = clock.nowMilliseconds
        let earlier = state.withLock { $0.known?.snapshot }
        do {
            let read = try await store.revocations(
                since: earlier,
                limit: limits.sessionsPerLookMax,
                changesMax: limits.changesPerLookMax
            )
            publish(read, lookedAtMilliseconds: now)
        } catch {
            guard !Task.isCancelled else { return }
            let isFirst = state.withLock { state in
                defer { state.failingSince = state.failingSince ?? .now }
                // The server may have crashed meanwhile.
                if state.failingSince == nil, let known = state.known {
                    state.known?.snapshot = known.snapshot.doubted(by: limits.transactionsInDoubt)
                }
                return state.failingSince == nil
            }
            if isFirst {
                logger.warning("ended sessions can't be read: watchers hear nothing", metadata: ["cause": "\(error)"])
            }
        }
    }

    private func publish(_ read: RevocationsRead, lookedAtMilliseconds: Int64) {
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
                    horizon: read.snapshot.horizon,
                    madeAtSeconds: lookedAtMilliseconds / 1000
                ),
                toldAtMilliseconds: lookedAtMilliseconds
            )
            state.known = Known(
                snapshot: read.snapshot,
                database: read.database,
                sessionsFromMilliseconds: read.sessionsFromMilliseconds,
                news: news
            )
            let now = ContinuousClock.now
            // The look after this one may be that much later.
            let isDue = state.toldAt.map { now - $0 >= limits.heartbeat / 2 } ?? true
            guard isDue || isFirst || isMoved || !read.sessionIDs.isEmpty || !read.accountChanges.isEmpty else {
                return []
            }
            state.toldAt = now
            news.sessionIDs = read.sessionIDs
            news.accountChanges = read.accountChanges
            if !isMoved { news.sessionsFromMilliseconds = nil }
            counts.countTold(read.sessionIDs.count * state.watchers.count)
            return state.watchers.values.filter { !$0.put(news) }
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

    /// One notification for all that was announced meanwhile. One that fails is not made up for: the others poll.
    private func notify() async {
        for await _ in announcements {
            try? await Task.sleep(for: limits.gatheringTime)
            try? await store.notifyOfRevocations()
        }
    }
}
