import API
import ServiceKit
import Synchronization

/// A message to a subscriber.
struct WatchUpdate: Sendable {
    /// The position up to which the subscriber has all changes; opaque.
    var position: [UInt8]
    /// Whether earlier changes are unknown.
    var isReset: Bool
    /// The changes; none in a heartbeat.
    var changes: [AppV1.GroupChange]
    /// Changes that other sessions made to the ways into the account.
    var accountChanges: [IdentityV1.AccountChange] = []
}

/// Why a subscription ended.
enum WatchEnd: Error, Sendable, Hashable, CaseIterable {
    /// The access token has expired.
    case expired
    /// The session has ended.
    case revoked
    /// The app must reconnect with its position: a server stops, or was lost.
    case comeAgain
    /// The app doesn't read its messages.
    case slow
}

/// A subscriber: its bounded queue of messages, and whether to stop. Any thread; putting never waits.
///
/// States: opened → begun → ended, or opened → ended. One task takes the news.
final class GroupWatcher: Sendable {
    /// The maximum of changes that wait for one app.
    static let changesMax = 512
    /// The maximum of account changes that wait for one app. Further ones are dropped: the list of sessions has them.
    static let accountChangesMax = 16
    /// How long an end may wait for an app that reads nothing.
    static let endLimit: Duration = .seconds(5)

    private struct State {
        var news: WatchUpdate?
        /// All changes up to here were put here.
        var position: [UInt8] = []
        var isBegun = false
        var toldAt = ContinuousClock.now
        var end: WatchEnd?
        var endedAt: ContinuousClock.Instant?
        var waiter: UnsafeContinuation<Void, Never>?
        var task: Task<Void, any Error>?
        var positionKey: CursorKey?

        mutating func takeWaiter() -> UnsafeContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    let number: UInt64
    let session: WatchingSession
    private let state = Mutex(State())

    init(number: UInt64, session: WatchingSession) {
        self.number = number
        self.session = session
    }

    /// Seals positions with this key from now on.
    func seal(by key: CursorKey) { state.withLock { $0.positionKey = key } }

    /// The subscription begins, or changes came: queues them. Returns false if the app is too far behind.
    func put(_ news: WatchUpdate) -> Bool {
        let (fits, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            if state.end != nil { return (true, nil) }
            var all = state.news?.changes ?? []
            // Else the array has two owners and is copied when it grows.
            state.news?.changes = []
            for change in news.changes where !all.contains(change) { all.append(change) }
            guard all.count <= Self.changesMax else { return (false, nil) }
            let isReset = news.isReset || state.news?.isReset ?? false
            state.isBegun = true
            state.position = news.position
            // An app that begins anew needs no changes.
            state.news = WatchUpdate(
                position: news.position,
                isReset: isReset,
                changes: isReset ? [] : all,
                accountChanges: state.news?.accountChanges ?? []
            )
            return (true, state.takeWaiter())
        }
        waiter?.resume()
        return fits
    }

    /// Another session of the account has changed the ways into it. Before the subscription begins, the list of sessions has it.
    func notify(_ change: IdentityV1.AccountChange) {
        let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard state.isBegun, state.end == nil else { return nil }
            var news = state.news ?? WatchUpdate(position: state.position, isReset: false, changes: [])
            guard news.accountChanges.count < Self.accountChangesMax else { return nil }
            news.accountChanges.append(change)
            state.news = news
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    /// The changes are unknown: the app begins anew at a position.
    func reset(at position: [UInt8]) {
        guard state.withLock({ $0.isBegun }) else { return }
        // Without changes it always fits.
        _ = put(WatchUpdate(position: position, isReset: true, changes: []))
    }

    /// Queues a heartbeat if no message was sent for that long, and disconnects an app that doesn't read its end.
    ///
    /// - Parameter position: all changes for this app up to here were put here.
    func tick(_ now: ContinuousClock.Instant, heartbeat: Duration, position: [UInt8]) {
        let (waiter, task) = state.withLock { state -> (UnsafeContinuation<Void, Never>?, Task<Void, any Error>?) in
            if let endedAt = state.endedAt, now - endedAt > Self.endLimit { return (nil, state.task) }
            guard state.isBegun, state.news == nil, now - state.toldAt >= heartbeat else { return (nil, nil) }
            state.position = position
            state.news = WatchUpdate(position: position, isReset: false, changes: [])
            return (state.takeWaiter(), nil)
        }
        waiter?.resume()
        task?.cancel()
    }

    /// Ends the subscription after the queued messages. They are dropped if the session ended or the app is too slow.
    /// Returns whether this was the first end.
    func end(_ reason: WatchEnd) -> Bool {
        let (isFirst, waiter, task) = state.withLock {
            state -> (Bool, UnsafeContinuation<Void, Never>?, Task<Void, any Error>?) in
            guard state.end == nil else { return (false, nil, nil) }
            state.end = reason
            state.endedAt = .now
            if reason == .revoked || reason == .slow { state.news = nil }
            return (true, state.takeWaiter(), reason == .slow ? state.task : nil)
        }
        waiter?.resume()
        // The task waits for the app.
        task?.cancel()
        return isFirst
    }

    /// Returns the next message, with its position sealed for the account: the app sends the position back.
    ///
    /// - Throws: `WatchEnd` at the end, `CancellationError` when the task is cancelled.
    func next() async throws -> WatchUpdate {
        while true {
            try Task.checkCancellation()
            let (news, key, end) = state.withLock { state -> (WatchUpdate?, CursorKey?, WatchEnd?) in
                defer { state.news = nil }
                if state.news != nil { state.toldAt = .now }
                return (state.news, state.positionKey, state.end)
            }
            if var news {
                // There is one from the beginning: see `GroupWatches.take`.
                if let key { news.position = key.seal(news.position) }
                return news
            }
            if let end { throw end }
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let isOver = state.withLock { state in
                        if state.news != nil || state.end != nil || Task.isCancelled { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.takeWaiter() }?.resume()
            }
        }
    }

    /// Sends each message with `tell`, in a task that an end can cancel while it waits for the app.
    ///
    /// - Throws: `WatchEnd`, or the error of `tell`.
    func run(_ tell: @escaping @Sendable (WatchUpdate) async throws -> Void) async throws {
        let task = Task { while true { try await tell(try await next()) } }
        state.withLock { $0.task = task }
        defer { state.withLock { $0.task = nil } }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            // The task may have been cancelled by an end, which has the reason.
            throw state.withLock { $0.end } ?? error
        }
    }
}

/// A subscriber's session, as identity saw it a moment ago.
struct WatchingSession: Sendable {
    let userID: String
    let sessionID: String
    /// When the access token expires, in Unix seconds.
    var expiresAtSeconds: Int64
}
