import API
import InvitesDomain
import Models
import ServiceKit

/// The subscriptions, their streams and their messages: the state that ``GroupEventHub`` guards. A plain value; it waits for nothing.
struct GroupEventState {
    /// A subscription, by its stream's id for it.
    struct Watch: Hashable {
        let stream: UInt64
        let id: UInt64
    }

    /// The position from which a subscription continues.
    enum Start: Sendable {
        /// From its beginning.
        case now
        /// After an earlier message; nil for an unreadable position.
        case after(GroupPosition?)
    }

    /// A subscription that is about to begin.
    struct Beginning: Sendable {
        let watch: Watch
        let userID: UserID
        let start: Start
        /// The key by which the gateway seals positions for the user.
        var positionKey: [UInt8] = []

        /// The place from which it continues; nil if it begins anew.
        ///
        /// - Parameter head: the position that has everything that is visible.
        func place(at head: GroupPosition, keptSeconds: Int64) -> GroupLogPlace? {
            guard case .after(let position?) = start, position.isGood(at: head, keptSeconds: keptSeconds) else {
                return nil
            }
            return position.place
        }

        /// Whether the app was disconnected, and asks for what it missed.
        var wasAway: Bool { if case .after = start { true } else { false } }
    }

    /// A subscription that begins with a look.
    struct Begun: Sendable {
        let beginning: Beginning
        /// Why it begins anew; nil if it doesn't.
        let reset: GroupEventReset?
        let changes: GroupChangeSet
    }

    typealias Message = (stream: GroupEventStream, message: InvitesV1.WatchGroupsResponse)

    /// The largest message in bytes, roughly; larger ones are sent in parts.
    static let messageBytesMax = 2 << 20
    private static let changeBytes = 84
    private static let watchBytes = 5

    let limits: GroupEventHub.Limits
    var isStopping = false
    private(set) var streams: [UInt64: GroupEventStream] = [:]
    private var lastNumber: UInt64 = 0
    /// The user of each subscription, including those that have not begun.
    private(set) var users: [Watch: UserID] = [:]
    private var watches: [UserID: [Watch]] = [:]
    /// The subscriptions that have not begun, in the order of their arrival.
    private(set) var beginnings: [Beginning] = []
    /// How far the log was read and delivered; nil without subscribers, and before the first look.
    private(set) var known: GroupPosition?
    /// When each stream last got a message.
    private var toldAt: [UInt64: ContinuousClock.Instant] = [:]
    /// Since when looks fail or leave something unread; nil if the last one read everything.
    var behindSince: ContinuousClock.Instant?
    /// How much the next look reads.
    var lookSize: GroupEventBatchSize
    /// How often in a row the missed events of reconnecting subscribers couldn't be read.
    var failedCatchUps = 0

    init(limits: GroupEventHub.Limits) {
        self.limits = limits
        lookSize = GroupEventBatchSize(max: limits.eventsPerLookMax)
    }

    mutating func open() -> GroupEventStream? {
        guard !isStopping, streams.count < limits.streamsMax else { return nil }
        lastNumber += 1
        let stream = GroupEventStream(number: lastNumber)
        streams[lastNumber] = stream
        toldAt[lastNumber] = .now
        return stream
    }

    mutating func close(_ number: UInt64) {
        streams[number] = nil
        toldAt[number] = nil
        beginnings.removeAll { $0.watch.stream == number }
        for watch in users.keys.filter({ $0.stream == number }) { end(watch) }
        // The next one begins anew.
        if streams.isEmpty { (known, behindSince) = (nil, nil) }
    }

    /// Keeps one until the next look; false if there are too many. An id in use doesn't begin twice.
    mutating func await(_ beginning: Beginning) -> Bool {
        guard streams[beginning.watch.stream] != nil, users[beginning.watch] == nil else { return true }
        guard users.count < limits.watchesMax else { return false }
        users[beginning.watch] = beginning.userID
        beginnings.append(beginning)
        return true
    }

    mutating func end(_ watch: Watch) {
        guard let userID = users.removeValue(forKey: watch) else { return }
        watches[userID]?.removeAll { $0 == watch }
        if watches[userID]?.isEmpty ?? false { watches[userID] = nil }
        beginnings.removeAll { $0.watch == watch }
    }

    // MARK: - Results of a look

    /// Returns which beginnings begin at a position; the others wait for a later look.
    ///
    /// - Parameters:
    ///   - beginnings: the ones that were known before the look.
    ///   - head: the position that has everything that is visible. An app that comes from another replica may have read further than this
    ///     one.
    func due(_ beginnings: [Beginning], at now: GroupPosition, _ head: GroupPosition) -> [Beginning] {
        let kept = limits.kept.components.seconds
        return Array(
            beginnings.lazy.filter { $0.place(at: head, keptSeconds: kept).map(now.place.contains) ?? true }
                .prefix(limits.beginsPerLookMax)
        )
    }

    /// The users with a subscription that has begun.
    var watching: [UserID] { Array(watches.keys) }

    /// Makes all subscriptions begin anew at a position.
    mutating func reset(at position: GroupPosition) -> [Message] {
        advance(to: position)
        return streams.values.map { (stream: $0, message: news(isReset: true)) }
    }

    /// The messages to earlier subscribers; nil, without any effect, if a message would be too large and fewer events can be tried.
    ///
    /// - Parameters:
    ///   - events: the events since ``known``, in order.
    ///   - position: the position after them.
    ///   - unresolved: users who begin anew, since it is unknown whether they get one of the events.
    ///   - audiences: recipients of the events.
    mutating func publish(
        _ events: [GroupEventStore.Event],
        upTo position: GroupPosition,
        unresolved: [UserID] = [],
        _ audiences: GroupEventStore.Audiences
    ) -> Published? {
        var news = GroupChangesDraft()
        for event in events {
            switch event.audience {
            case .user(let userID): if watches[userID] != nil { news.add(event.change, for: userID) }
            case .members(let groupID): news.add(event.change, of: groupID)
            case .awaited(let groupID):
                for userID in audiences.awaited[groupID] ?? [] where watches[userID] != nil {
                    news.add(event.change, for: userID)
                }
            }
        }
        let floods = news.floods(changesMax: limits.changesPerLookMax) { groupID in
            (audiences.members[groupID] ?? []).filter { watches[$0] != nil }
        }
        let resets = floods.union(unresolved)
        var told: [UInt64: [InvitesV1.WatchedChanges]] = [:]
        for (changes, users) in news.parts(audiences.members, without: resets) { add(changes, for: users, to: &told) }
        let isTooLarge = told.values.contains { watched in
            let bytes = watched.reduce(0) {
                $0 + $1.watchIds.count * Self.watchBytes + $1.changes.count * Self.changeBytes
            }
            return bytes > Self.messageBytesMax
        }
        guard !isTooLarge || events.count <= 1 else { return nil }
        advance(to: position)
        let messages = told.compactMap { number, watched -> Message? in
            guard let stream = streams[number] else { return nil }
            toldAt[number] = .now
            return (stream: stream, message: self.news(isReset: false, watched))
        }
        return Published(
            messages: messages + resets.flatMap { anew($0) },
            floodedCount: watchCount(of: floods),
            unresolvedCount: watchCount(of: Set(unresolved).subtracting(floods))
        )
    }

    private mutating func advance(to position: GroupPosition) {
        // All subscribers may have left during the look. A later one begins at the next look, and not with everything since.
        known = streams.isEmpty ? nil : position
    }

    /// The messages for some events.
    struct Published {
        let messages: [Message]
        /// Subscriptions that begin anew since they would get too many changes.
        let floodedCount: Int
        /// Subscriptions that begin anew since it is unknown what they would get.
        let unresolvedCount: Int
    }

    private func watchCount(of users: Set<UserID>) -> Int { users.reduce(0) { $0 + (watches[$1]?.count ?? 0) } }

    /// The messages by which a user's subscriptions begin anew. After all others: they have the position that the others lead to.
    private func anew(_ userID: UserID) -> [Message] {
        (watches[userID] ?? []).compactMap { watch in
            guard let stream = streams[watch.stream] else { return nil }
            var message = InvitesV1.WatchGroupsResponse()
            message.begun.watchID = watch.id
            message.begun.position = .init(known?.bytes ?? [])
            message.begun.isReset = true
            return (stream: stream, message: message)
        }
    }

    /// Adds changes for the subscriptions of users, for each stream its own.
    private func add(
        _ changes: GroupChangeSet,
        for users: [UserID],
        to told: inout [UInt64: [InvitesV1.WatchedChanges]]
    ) {
        var ids: [UInt64: [UInt64]] = [:]
        for userID in users { for watch in watches[userID] ?? [] { ids[watch.stream, default: []].append(watch.id) } }
        guard !ids.isEmpty else { return }
        let messages = changes.changes.map { AppV1.GroupChange($0) }
        for (stream, ids) in ids {
            var watched = InvitesV1.WatchedChanges()
            watched.watchIds = ids
            watched.changes = messages
            told[stream, default: []].append(watched)
        }
    }

    /// The messages to subscriptions that begin with the look.
    mutating func begin(_ begun: [Begun], at position: GroupPosition) -> [Message] {
        let done = Set(begun.map(\.beginning.watch))
        beginnings.removeAll { done.contains($0.watch) }
        return begun.compactMap { begun in
            let (watch, userID) = (begun.beginning.watch, begun.beginning.userID)
            // It may have ended meanwhile.
            guard let stream = streams[watch.stream], users[watch] == userID else { return nil }
            watches[userID, default: []].append(watch)
            var message = InvitesV1.WatchGroupsResponse()
            message.begun.watchID = watch.id
            message.begun.position = .init(position.bytes)
            message.begun.positionKey = .init(begun.beginning.positionKey)
            message.begun.isReset = begun.reset != nil
            message.begun.changes = begun.changes.changes.map { AppV1.GroupChange($0) }
            return (stream: stream, message: message)
        }
    }

    /// Heartbeats for the streams that got no message for long.
    mutating func signsOfLife(now: ContinuousClock.Instant) -> [Message] {
        streams.values.compactMap { stream in
            guard let last = toldAt[stream.number], now - last >= limits.heartbeat else { return nil }
            toldAt[stream.number] = now
            return (stream: stream, message: news(isReset: false))
        }
    }

    /// A stream's message about a look. Before the first look it has no position.
    private func news(isReset: Bool, _ watched: [InvitesV1.WatchedChanges] = []) -> InvitesV1.WatchGroupsResponse {
        var message = InvitesV1.WatchGroupsResponse()
        message.changed.position = .init(known?.bytes ?? [])
        message.changed.isReset = isReset
        message.changed.watched = watched
        return message
    }
}
