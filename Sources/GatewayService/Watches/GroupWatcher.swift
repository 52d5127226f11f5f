import API
import ServiceKit
import Synchronization

/// What one who watches is told.
struct WatchUpdate: Sendable {
    /// Up to where everything is told; opaque.
    var position: [UInt8]
    /// Whether it isn't known what has changed before.
    var isReset: Bool
    /// What has changed; none in a sign of life.
    var changes: [AppV1.GroupChange]
    /// What another session of the account has changed about the ways into it.
    var accountChanges: [IdentityV1.AccountChange] = []
}

/// Why one who watches is told no more.
enum WatchEnd: Error, Sendable, Hashable, CaseIterable {
    /// The access token has expired.
    case expired
    /// The session has ended.
    case revoked
    /// The app comes back with its position: a server stops, or was lost.
    case comeAgain
    /// The app doesn't take what it is told.
    case slow
}

/// One who watches: what waits to be told, bounded, and whether to stop. Any thread; putting never waits.
///
/// States: opened → begun → ended, or opened → ended. One task takes the news.
final class GroupWatcher: Sendable {
    /// Changes that wait for one app at most.
    static let changesMax = 512
    /// Changes of the account that wait for one app at most. Those beyond are dropped: the list of sessions has them.
    static let accountChangesMax = 16
    /// How long an end may wait to be told to an app that takes nothing.
    static let endLimit: Duration = .seconds(5)

    private struct State {
        var news: WatchUpdate?
        /// Up to where everything was put here.
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

    /// Has positions sealed by this key from now on.
    func seal(by key: CursorKey) { state.withLock { $0.positionKey = key } }

    /// The watching begins, or changes came: they wait with those before. False if the app is too far behind.
    func put(_ news: WatchUpdate) -> Bool {
        let (fits, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Void, Never>?) in
            if state.end != nil { return (true, nil) }
            var all = state.news?.changes ?? []
            // Not two owners while it grows.
            state.news?.changes = []
            for change in news.changes where !all.contains(change) { all.append(change) }
            guard all.count <= Self.changesMax else { return (false, nil) }
            let isReset = news.isReset || state.news?.isReset ?? false
            state.isBegun = true
            state.position = news.position
            // Whoever begins anew needs no changes.
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

    /// Another session of the account has changed the ways into it. One who hasn't begun finds it in the list of sessions.
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

    /// It isn't known what has changed: the app begins anew at a position.
    func reset(at position: [UInt8]) {
        guard state.withLock({ $0.isBegun }) else { return }
        // Without changes it always fits.
        _ = put(WatchUpdate(position: position, isReset: true, changes: []))
    }

    /// Tells a sign of life if nothing was told for that long; and lets go of an app that takes no end.
    ///
    /// - Parameter position: up to where everything that concerns this app was put here.
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

    /// Has it end, after what waits was told, unless the session ended: then nothing more is.
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
        // It waits for the app.
        task?.cancel()
        return isFirst
    }

    /// Returns the next news, with their position sealed for the account: what leaves here comes back from an app.
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
                // An invites of the version before gives no key, and takes positions as it gives them.
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

    /// Runs what tells the news, so that an end can stop it while it waits for the app.
    ///
    /// - Throws: `WatchEnd`, or what telling throws.
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
            // Cut off while it waited: why is the end's to say.
            throw state.withLock { $0.end } ?? error
        }
    }
}

/// Whose session watches, as identity saw it a moment ago.
struct WatchingSession: Sendable {
    let userID: String
    let sessionID: String
    /// When the access token expires, in Unix seconds.
    let expiresAtSeconds: Int64
}
