import API
import Logging
import Models
import Postgres
import ServiceKit
import Synchronization

/// Looks for changes in groups, for all subscribers of this replica, and only while there is one: at once when this replica has changed
/// something or another one notifies it, and each `pollInterval` in any case.
///
/// A look reads what is visible and the previous ones did not read (``GroupChangeLog``), a page at most, so nothing is skipped and nothing
/// delivered twice, whenever it is committed. A new subscriber gets what they missed up to the end of a look, and what later looks read.
/// One task looks, one look at a time, and again at once while a page is full.
///
/// Many events delay other events and reset nobody: only a subscriber whose own changes are unknown or too many gets a ``GroupEventReset``.
///
/// Any thread; locks are held only for moments, and no call waits for a look.
final class GroupEventHub: Sendable {
    /// The bounds.
    struct Limits: Sendable {
        /// How often to look without a notification.
        var pollInterval: Duration = .milliseconds(200)
        /// How long to wait after a look that failed.
        var retryInterval: Duration = .milliseconds(100)
        /// How long concurrent announcements are gathered, and so the least time between two looks.
        var gatheringTime: Duration = .milliseconds(2)
        /// The least time between two notifications of the other replicas.
        var notifyInterval: Duration = .milliseconds(50)
        /// The longest time between two messages to a gateway.
        var heartbeat: Duration = .seconds(5)
        /// The maximum of concurrent streams.
        var streamsMax = 64
        /// The maximum of concurrent subscriptions, in all streams.
        var watchesMax = 100_000
        /// The maximum of events that one look reads; the next one continues at once.
        var eventsPerLookMax = 1_000
        /// The maximum of changes that a subscriber gets from one look; with more they begin anew.
        var changesPerLookMax = 256
        /// The maximum of subscriptions that begin with one look; the others wait for the next.
        var beginsPerLookMax = 500
        /// The maximum of events that a reconnecting subscriber gets; with more they begin anew.
        var missedMax = 256
        /// How long changes are kept.
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

    /// A hub without subscribers.
    init(store: GroupEventStore, limits: Limits = Limits(), logger: Logger) {
        self.store = store
        self.limits = limits
        self.logger = logger
        state = Mutex(GroupEventState(limits: limits))
        (announcements, announcement) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (watched, isWatched) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Announces that this replica may have committed a change: makes all replicas look. Never waits.
    func announce() {
        if state.withLock({ !$0.streams.isEmpty }) { bell.ring() }
        announcement.yield()
    }

    /// Opens a gateway's stream; nil if there are too many, or the server stops. The caller must give it back to ``close(_:)``.
    func open() -> GroupEventStream? {
        guard let stream = state.withLock({ $0.open() }) else { return nil }
        isWatched.yield()
        return stream
    }

    /// Removes a stream and all its subscriptions.
    func close(_ stream: GroupEventStream) { state.withLock { $0.close(stream.number) } }

    /// Adds a subscription, which begins with the next look; the stream gets a message then.
    ///
    /// - Parameter positionKey: the key by which the gateway seals positions for the user.
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

    /// Refuses a subscription.
    func refuse(_ watchID: UInt64, _ reason: String, on stream: GroupEventStream) {
        var message = InvitesV1.WatchGroupsResponse()
        message.refused.watchID = watchID
        message.refused.reason = reason
        tell(message, to: stream)
    }

    /// Ends a subscription.
    func end(_ watchID: UInt64, on stream: GroupEventStream) {
        state.withLock { $0.end(.init(stream: stream.number, id: watchID)) }
    }

    /// Ends all streams, and opens no more: the server stops.
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
                // A database connection only for replicas that need it.
                for await _ in self.watched { break }
                guard !Task.isCancelled, let channel = self.store.log.channel else { return }
                await self.store.database.listen(on: channel) { self.bell.ring() }
            }
        }
    }

    /// The number of subscriptions.
    var watchCount: Int { state.withLock { $0.users.count } }

    /// How long looks have failed or left something unread while there are subscribers; zero if the last one read everything.
    var behindTime: Duration {
        guard let since = state.withLock({ $0.behindSince }) else { return .zero }
        return ContinuousClock.now - since
    }

    /// Deletes changes that are older than they are kept, at most `limit` of them, and returns how many.
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

    /// Sends one notification for all announcements in the meantime. A failed one is not repeated: the others poll.
    private func notify() async {
        for await _ in announcements {
            try? await store.log.notify()
            try? await Task.sleep(for: limits.notifyInterval)
        }
    }
}
