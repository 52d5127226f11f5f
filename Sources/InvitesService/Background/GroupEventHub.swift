import API
import Logging
import Models
import Postgres
import ServiceKit
import Synchronization

/// Looks for what has changed in groups, for all who watch theirs at this replica, and only while somebody does: at once when this
/// replica has changed something or another one notifies it, and each `pollInterval` in any case.
///
/// A look reads what its snapshot of the database sees and the ones before did not, a page at most, so nothing is passed over and
/// nothing delivered twice, whenever it is committed. Who begins gets what they missed up to the end of a look, and what the looks
/// after it read. One task looks, one look at a time, and at once again while a page is full.
///
/// Many events delay other events and reset nobody: a ``GroupEventReset`` is for those only whose own changes are not known or too many.
///
/// Any thread; nothing waits for a lock but for moments, and no call waits for a look.
final class GroupEventHub: Sendable {
    /// The bounds.
    struct Limits: Sendable {
        /// How often to look without being told.
        var pollInterval: Duration = .milliseconds(200)
        /// How long to wait after a look that failed.
        var retryInterval: Duration = .milliseconds(100)
        /// How long those who tell at the same time are gathered, and so the least time between two looks.
        var gatheringTime: Duration = .milliseconds(2)
        /// The least time between two notifications of the other replicas.
        var notifyInterval: Duration = .milliseconds(50)
        /// The longest time between two messages to a gateway.
        var heartbeat: Duration = .seconds(5)
        /// Streams at once.
        var streamsMax = 64
        /// The maximum of concurrent subscriptions, in all streams.
        var watchesMax = 100_000
        /// Events that one look reads; the next one goes on at once.
        var eventsPerLookMax = 1_000
        /// Changes that one who watches gets of one look; with more they begin anew.
        var changesPerLookMax = 256
        /// Watchings that begin with one look; the others wait for the next.
        var beginsPerLookMax = 500
        /// Events that one who comes back gets; with more they begin anew.
        var missedMax = 256
        /// For how long changes are kept.
        var kept: Duration = .seconds(86_400)
    }

    let limits: Limits
    let counts = GroupEventCounts()
    let state: Mutex<GroupEventState>
    let store: GroupEventStore
    let logger: Logger
    private let bell = CoalescingSignal()
    private let announcements: AsyncStream<Void>
    private let announcement: AsyncStream<Void>.Continuation
    private let watched: AsyncStream<Void>
    private let isWatched: AsyncStream<Void>.Continuation

    /// Without watchers yet.
    init(store: GroupEventStore, limits: Limits = Limits(), logger: Logger) {
        self.store = store
        self.limits = limits
        self.logger = logger
        state = Mutex(GroupEventState(limits: limits))
        (announcements, announcement) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (watched, isWatched) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// This replica may have changed something, and it is committed: has all replicas look. Never waits.
    func announce() {
        if state.withLock({ !$0.streams.isEmpty }) { bell.ring() }
        announcement.yield()
    }

    /// Opens a gateway's stream; nil if there are too many, or the server stops. It must be given back to ``close(_:)``.
    func open() -> GroupEventStream? {
        guard let stream = state.withLock({ $0.open() }) else { return nil }
        isWatched.yield()
        return stream
    }

    /// Forgets a stream and all its watchings.
    func close(_ stream: GroupEventStream) { state.withLock { $0.close(stream.number) } }

    /// A watching begins with the next look; the stream is told so.
    ///
    /// - Parameter positionKey: by which the gateway seals positions for the user.
    func begin(
        _ watchID: UInt64,
        of userID: UserID,
        from start: GroupEventState.Start,
        positionKey: [UInt8] = [],
        on stream: GroupEventStream
    ) {
        let isTaken = state.withLock { state in
            state.await(
                GroupEventState.Beginning(
                    watch: .init(stream: stream.number, id: watchID),
                    userID: userID,
                    start: start,
                    positionKey: positionKey
                )
            )
        }
        if isTaken { bell.ring() } else { refuse(watchID, "TOO_MANY_WATCHES", on: stream) }
    }

    /// A watching doesn't begin.
    func refuse(_ watchID: UInt64, _ reason: String, on stream: GroupEventStream) {
        var message = InvitesV1.WatchGroupsResponse()
        message.refused.watchID = watchID
        message.refused.reason = reason
        tell(message, to: stream)
    }

    /// A watching ends.
    func end(_ watchID: UInt64, on stream: GroupEventStream) {
        state.withLock { $0.end(.init(stream: stream.number, id: watchID)) }
    }

    /// Ends all streams, and opens none any more: the server stops.
    func stop() {
        let all = state.withLock { state in
            state.isStopping = true
            return Array(state.streams.values)
        }
        for stream in all where stream.end(.stopping) { counts.count(.stopping) }
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
                await self.store.database.listen(on: GroupEventStore.channel) { self.bell.ring() }
            }
        }
    }

    /// How many watch.
    var watchCount: Int { state.withLock { $0.users.count } }

    /// For how long looks have failed or left something unread while somebody watches; zero if the last one read everything.
    var behindTime: Duration {
        guard let since = state.withLock({ $0.behindSince }) else { return .zero }
        return ContinuousClock.now - since
    }

    /// Forgets what changed before the time for which it is kept, at most `limit` changes, and tells how many.
    func forget(limit: Int) async throws -> Int { try await store.forget(olderThan: limits.kept, limit: limit) }

    private func look() async {
        while !Task.isCancelled {
            let hasStreams = state.withLock { !$0.streams.isEmpty }
            var isMore = false
            if hasStreams {
                isMore = await lookOnce()
                for (stream, message) in state.withLock({ $0.signsOfLife(now: .now) }) { tell(message, to: stream) }
            }
            if !isMore { await bell.wait(atMost: hasStreams ? limits.pollInterval : .seconds(3_600)) }
            try? await Task.sleep(for: limits.gatheringTime)
        }
    }

    func tell(_ message: InvitesV1.WatchGroupsResponse, to stream: GroupEventStream) {
        guard stream.put(message) else {
            if stream.end(.behind) { counts.count(.behind) }
            return
        }
        if case .changed(let news) = message.news {
            counts.countTold(news.watched.reduce(0) { $0 + $1.watchIds.count * $1.changes.count })
        }
    }

    /// One notification for all that was announced meanwhile. One that fails is not made up for: the others poll.
    private func notify() async {
        for await _ in announcements {
            try? await store.notify()
            try? await Task.sleep(for: limits.notifyInterval)
        }
    }
}
