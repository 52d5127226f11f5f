import API
import HTTPJSON
import HTTPTypes
import Logging
import RPC
import ServiceKit
import Synchronization

/// All subscribers at this gateway. They share one stream of group events from invites, and one stream of ended sessions from
/// identity. Both are open only while there are subscribers.
///
/// Each change comes once for all its recipients: a change in a group of a thousand is one message from invites. A slow app delays
/// no other: its queue is bounded, and an app that exceeds it is disconnected. When the stream to invites is lost, all subscribers
/// must reconnect, each with its position: then their sessions are checked again, and no change is missed.
///
/// Any thread; locks are held for moments only.
final class GroupWatches: Sendable {
    /// The bounds.
    struct Limits: Sendable {
        /// The maximum of concurrent subscribers.
        var watchesMax = 10_000
        /// The same for one account.
        var perAccountMax = 10
        /// The longest time between two messages to an app.
        var heartbeat: Duration = .seconds(20)
        /// How often the expiry of tokens and the heartbeat are checked.
        var tick: Duration = .seconds(1)
        /// How long invites may be silent; it sends something every five seconds.
        var silenceMax: Duration = .seconds(15)
        /// How long it may be unknown which sessions end. Then all subscribers must reconnect, and identity alone admits them.
        var endsUnknownMax: Duration = .seconds(30)
    }

    private struct Values {
        var watchers: [UInt64: GroupWatcher] = [:]
        var ofAccount: [String: Int] = [:]
        var ofSession: [String: Set<UInt64>] = [:]
        var lastNumber: UInt64 = 0
        var isStopping = false
        /// Requests that wait to be sent to invites.
        var requests: [InvitesV1.WatchGroupsRequest] = []
        /// Whether a stream to invites takes requests.
        var isConnected = false
        /// All messages from invites up to here are in the queues of their subscribers.
        var position: [UInt8] = []
        /// When identity last sent a message about ended sessions; nil while there are no subscribers.
        var heardOfEndsAt: ContinuousClock.Instant?
    }

    let limits: Limits
    let counts = WatchCounts()
    /// What identity said of these sessions and users before is used no more.
    let changes: SessionChanges
    let invites: InvitesServiceClient
    let identity: IdentityServiceClient
    private let values = Mutex(Values())
    /// Rings when there are requests.
    let requestBell = CoalescingSignal()
    /// Ring when there is a new subscriber.
    let streamBell = CoalescingSignal()
    let endsBell = CoalescingSignal()
    private let nowSeconds: @Sendable () -> Int64

    init(
        invites: InvitesServiceClient,
        identity: IdentityServiceClient,
        limits: Limits = Limits(),
        changes: SessionChanges = SessionChanges(),
        nowSeconds: @escaping @Sendable () -> Int64 = { WatchClock.nowSeconds }
    ) {
        self.invites = invites
        self.identity = identity
        self.limits = limits
        self.changes = changes
        self.nowSeconds = nowSeconds
    }

    // MARK: - Subscribers

    /// Adds a subscriber. Returns once invites says at which position it begins.
    ///
    /// - Parameters:
    ///   - proof: identity's proof of the user to invites.
    ///   - position: that of the last message that the app has; nil to begin now.
    ///   - deadline: when the subscription must have begun.
    /// - Throws: 429 for an account with too many subscriptions, 503 for too many in all or if invites doesn't respond.
    func open(
        _ session: WatchingSession,
        proof: String,
        from position: [UInt8]?,
        deadline: Deadline
    ) async throws -> GroupWatch {
        let watcher = try add(session, proof: proof, from: position)
        do {
            let begun = try await withThrowingTaskGroup(of: WatchUpdate.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await watcher.next() }
                group.addTask {
                    try await Task.sleep(for: deadline.remaining)
                    throw Self.unavailable
                }
                guard let first = try await group.next() else { throw Self.unavailable }
                return first
            }
            return GroupWatch(watcher, begun: begun, of: self)
        } catch {
            close(watcher)
            throw (error as? WatchEnd)?.problem ?? error
        }
    }

    private func add(_ session: WatchingSession, proof: String, from position: [UInt8]?) throws -> GroupWatcher {
        var request = InvitesV1.WatchGroupsRequest()
        request.begin.callerProof = proof
        request.begin.position = .init(position ?? [])
        let (watcher, refusal) = values.withLock { values -> (GroupWatcher?, Problem?) in
            if values.isStopping { return (nil, Self.unavailable) }
            if changes.hasEnded(session.sessionID) { return (nil, WatchEnd.revoked.problem) }
            guard values.ofAccount[session.userID, default: 0] < limits.perAccountMax else {
                return (nil, Self.tooMany)
            }
            guard values.watchers.count < limits.watchesMax else { return (nil, Self.unavailable) }
            values.lastNumber += 1
            let watcher = GroupWatcher(number: values.lastNumber, session: session)
            values.watchers[watcher.number] = watcher
            values.ofAccount[session.userID, default: 0] += 1
            values.ofSession[session.sessionID, default: []].insert(watcher.number)
            request.watchID = watcher.number
            values.requests.append(request)
            if values.heardOfEndsAt == nil { values.heardOfEndsAt = .now }
            return (watcher, nil)
        }
        guard let watcher else {
            counts.countRefusal()
            throw refusal ?? Self.unavailable
        }
        requestBell.ring()
        streamBell.ring()
        endsBell.ring()
        return watcher
    }

    /// Removes a subscriber.
    func close(_ watcher: GroupWatcher) {
        let isKnown = values.withLock { values in
            guard values.watchers.removeValue(forKey: watcher.number) != nil else { return false }
            let session = watcher.session
            values.ofAccount[session.userID, default: 0] -= 1
            if values.ofAccount[session.userID] == 0 { values.ofAccount[session.userID] = nil }
            values.ofSession[session.sessionID]?.remove(watcher.number)
            if values.ofSession[session.sessionID]?.isEmpty ?? false { values.ofSession[session.sessionID] = nil }
            if values.watchers.isEmpty { values.heardOfEndsAt = nil }
            // No end is sent if the begin was never sent, or if its stream is gone.
            let count = values.requests.count
            values.requests.removeAll { $0.watchID == watcher.number }
            guard values.isConnected, count == values.requests.count else { return false }
            var request = InvitesV1.WatchGroupsRequest()
            request.watchID = watcher.number
            request.end = InvitesV1.WatchEnd()
            values.requests.append(request)
            return true
        }
        if isKnown { requestBell.ring() }
    }

    /// Ends all subscriptions and rejects new ones: the server stops.
    func stop() {
        values.withLock { $0.isStopping = true }
        endAll(.comeAgain)
    }

    /// The number of subscribers.
    var count: Int { values.withLock { $0.watchers.count } }

    /// Whether there are subscribers.
    var isWatched: Bool { values.withLock { !$0.watchers.isEmpty } }

    // MARK: - Events of the streams

    /// A stream to invites takes requests from now on.
    func streamOpened() { values.withLock { $0.isConnected = true } }

    /// Gives up the stream if there are no subscribers; later ones wait for another stream. Returns whether it did.
    func closesIdleStream() -> Bool {
        values.withLock { values in
            guard values.watchers.isEmpty else { return false }
            (values.isConnected, values.requests) = (false, [])
            return true
        }
    }

    /// The stream was lost: all subscribers must reconnect.
    func streamLost() {
        values.withLock { ($0.isConnected, $0.requests) = (false, []) }
        endAll(.comeAgain)
    }

    /// Takes the requests to send to invites next.
    func takeRequests() -> [InvitesV1.WatchGroupsRequest] {
        values.withLock { values in
            guard values.isConnected else { return [] }
            defer { values.requests = [] }
            return values.requests
        }
    }

    /// Distributes a message from invites.
    func take(_ message: InvitesV1.WatchGroupsResponse) {
        switch message.news {
        case .begun(let begun):
            guard let watcher = values.withLock({ $0.watchers[begun.watchID] }) else { return }
            // An app that gets a position without a seal can't continue from it.
            guard let key = CursorKey(begun.positionKey) else { return end(watcher, .comeAgain) }
            watcher.seal(by: key)
            put(
                WatchUpdate(position: Array(begun.position), isReset: begun.isReset, changes: begun.changes),
                to: begun.watchID
            )
            // Messages for other subscribers up to there came before.
            values.withLock { $0.position = Array(begun.position) }
        case .refused(let refused):
            // Our keys or clocks are wrong, or there are too many subscribers: the app can't repair that.
            if let watcher = values.withLock({ $0.watchers[refused.watchID] }) { end(watcher, .comeAgain) }
        case .changed(let news): take(news)
        case nil: break
        }
    }

    private func take(_ news: InvitesV1.GroupNews) {
        guard !news.position.isEmpty else { return }
        let position = Array(news.position)
        var changes: [UInt64: [AppV1.GroupChange]] = [:]
        for watched in news.watched {
            for id in watched.watchIds { changes[id, default: []] += watched.changes }
        }
        if news.isReset {
            for watcher in values.withLock({ Array($0.watchers.values) }) { watcher.reset(at: position) }
        }
        for (number, changes) in changes {
            put(WatchUpdate(position: position, isReset: false, changes: changes), to: number)
        }
        // Last: a heartbeat must not carry a position whose changes are not queued yet.
        values.withLock { $0.position = position }
    }

    private func put(_ news: WatchUpdate, to number: UInt64) {
        guard let watcher = values.withLock({ $0.watchers[number] }) else { return }
        if watcher.put(news) { counts.countTold(news.changes.count) } else { end(watcher, .slow) }
    }

    /// Ends the subscriptions of ended sessions, and rejects those that are just about to begin.
    ///
    /// - Parameter changedUsers: the users whose accounts changed.
    func endSessions(_ ids: [String], changedUsers: [String] = []) {
        // First: a subscription that begins meanwhile is rejected, or is found below.
        changes.note(sessions: ids, users: changedUsers)
        let watchers = values.withLock { values -> [GroupWatcher] in
            values.heardOfEndsAt = values.watchers.isEmpty ? nil : .now
            return ids.flatMap { values.ofSession[$0] ?? [] }.compactMap { values.watchers[$0] }
        }
        for watcher in watchers { end(watcher, .revoked) }
    }

    /// The ways into accounts were changed: notifies the subscribers of each account, except the session that made the change.
    func notify(_ changes: [IdentityV1.AccountChange]) {
        guard !changes.isEmpty else { return }
        let byUser = Dictionary(grouping: changes, by: \.userID)
        let watchers = values.withLock { values in
            values.watchers.values.filter { byUser[$0.session.userID] != nil }
        }
        for watcher in watchers {
            for change in byUser[watcher.session.userID] ?? [] where change.sessionID != watcher.session.sessionID {
                watcher.notify(change)
            }
        }
    }

    /// Ends subscriptions whose tokens have expired, and sends heartbeats.
    func tick() {
        let (now, seconds) = (ContinuousClock.now, nowSeconds())
        let (watchers, position, isUnknown) = values.withLock { values -> ([GroupWatcher], [UInt8], Bool) in
            let unknown = values.heardOfEndsAt.map { now - $0 > limits.endsUnknownMax } ?? false
            return (Array(values.watchers.values), values.position, unknown)
        }
        if isUnknown { return endAll(.comeAgain) }
        for watcher in watchers {
            if seconds >= watcher.session.expiresAtSeconds { end(watcher, .expired) }
            watcher.tick(now, heartbeat: limits.heartbeat, position: position)
        }
    }

    /// Ends all current subscriptions.
    func endAll(_ reason: WatchEnd) {
        for watcher in values.withLock({ Array($0.watchers.values) }) { end(watcher, reason) }
    }

    private func end(_ watcher: GroupWatcher, _ reason: WatchEnd) {
        if watcher.end(reason) { counts.count(reason) }
    }

    private static let tooMany = Problem(
        .tooManyRequests,
        code: "TOO_MANY_WATCHES",
        detail: "The account watches from too many places at once."
    ).retryingAfter(.seconds(60))
    private static let unavailable = WatchEnd.comeAgain.problem
}
