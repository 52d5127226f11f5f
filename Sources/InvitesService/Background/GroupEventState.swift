import API
import InvitesDomain
import Models
import ServiceKit

/// Who watches, on which stream, and what is told to whom: what ``GroupEventHub`` guards. A plain value; it waits for nothing.
struct GroupEventState {
    /// One who watches, as a stream calls them.
    struct Watch: Hashable {
        let stream: UInt64
        let id: UInt64
    }

    /// From where a watching goes on.
    enum Start: Sendable {
        /// From where it begins.
        case now
        /// After an earlier message; nil for a position that can't be read.
        case after(GroupPosition?)
    }

    /// A watching that is to begin.
    struct Beginning: Sendable {
        let watch: Watch
        let userID: UserID
        let start: Start
        /// By which the gateway seals positions for the user.
        var positionKey: [UInt8] = []

        /// The snapshot after which it goes on at a position; nil if it begins anew.
        func snapshot(at now: GroupPosition, keptSeconds: Int64) -> DatabaseSnapshot? {
            guard case .after(let position?) = start, position.isGood(at: now, keptSeconds: keptSeconds) else {
                return nil
            }
            return position.snapshot
        }

        /// Whether somebody wants to know what they have missed.
        var wasAway: Bool { if case .after = start { true } else { false } }
    }

    /// A watching that begins with a look.
    struct Begun: Sendable {
        let beginning: Beginning
        let isReset: Bool
        let changes: GroupChangeSet
    }

    typealias Message = (stream: GroupEventStream, message: InvitesV1.WatchGroupsResponse)

    /// The largest message in bytes, roughly; what would be larger is told as a reset.
    static let messageBytesMax = 2 << 20
    private static let changeBytes = 84
    private static let watchBytes = 5

    let limits: GroupEventHub.Limits
    var isStopping = false
    private(set) var streams: [UInt64: GroupEventStream] = [:]
    private var lastNumber: UInt64 = 0
    /// Whose each watching is, those included that have not begun.
    private(set) var users: [Watch: UserID] = [:]
    private var watches: [UserID: [Watch]] = [:]
    /// Those that have not begun, in the order in which they came.
    private(set) var beginnings: [Beginning] = []
    /// What is known from looking; nil while nobody watches, and until there was a look.
    private(set) var known: GroupPosition?
    /// When each stream was told something last.
    private var toldAt: [UInt64: ContinuousClock.Instant] = [:]
    /// Since when looks fail; nil if the last one did not.
    var failingSince: ContinuousClock.Instant?
    /// How often in a row what those missed who come back couldn't be read.
    var failedCatchUps = 0

    init(limits: GroupEventHub.Limits) { self.limits = limits }

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
        if streams.isEmpty { (known, failingSince) = (nil, nil) }
    }

    /// Keeps one until the next look; false if there are too many. A number that is in use is not begun twice.
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

    // MARK: - What a look saw

    /// The messages to those who watched before the look.
    mutating func publish(
        _ look: GroupEventStore.Look,
        isReset: Bool,
        _ audiences: GroupEventStore.Audiences
    ) -> [Message] {
        known = look.position
        if isReset { return streams.values.map { (stream: $0, message: news(isReset: true)) } }
        var ofGroups: [GroupID: GroupChangeSet] = [:]
        var ofUsers: [UserID: GroupChangeSet] = [:]
        for event in look.events {
            switch event.audience {
            case .user(let userID):
                if watches[userID] != nil { ofUsers[userID, default: GroupChangeSet()].insert(event.change) }
            case .members(let groupID): ofGroups[groupID, default: GroupChangeSet()].insert(event.change)
            case .awaited(let groupID):
                for userID in audiences.awaited[groupID] ?? [] where watches[userID] != nil {
                    ofUsers[userID, default: GroupChangeSet()].insert(event.change)
                }
            }
        }
        var told: [UInt64: [InvitesV1.WatchedChanges]] = [:]
        for (groupID, changes) in ofGroups { add(changes, for: audiences.members[groupID] ?? [], to: &told) }
        for (userID, changes) in ofUsers { add(changes, for: [userID], to: &told) }
        return told.compactMap { number, watched in
            guard let stream = streams[number] else { return nil }
            toldAt[number] = .now
            let bytes = watched.reduce(0) {
                $0 + $1.watchIds.count * Self.watchBytes + $1.changes.count * Self.changeBytes
            }
            let fits = bytes <= Self.messageBytesMax
            return (stream: stream, message: news(isReset: !fits, fits ? watched : []))
        }
    }

    /// Adds changes for the watchings of users, to each stream its own.
    private func add(
        _ changes: GroupChangeSet,
        for users: [UserID],
        to told: inout [UInt64: [InvitesV1.WatchedChanges]]
    ) {
        var ids: [UInt64: [UInt64]] = [:]
        for userID in users { for watch in watches[userID] ?? [] { ids[watch.stream, default: []].append(watch.id) } }
        guard !ids.isEmpty else { return }
        let messages = changes.changes.map { InvitesV1.GroupChange($0) }
        for (stream, ids) in ids {
            var watched = InvitesV1.WatchedChanges()
            watched.watchIds = ids
            watched.changes = messages
            told[stream, default: []].append(watched)
        }
    }

    /// The messages to those whose watching begins with the look.
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
            message.begun.isReset = begun.isReset
            message.begun.changes = begun.changes.changes.map { InvitesV1.GroupChange($0) }
            return (stream: stream, message: message)
        }
    }

    /// A message to each stream that was told nothing for long.
    mutating func signsOfLife(now: ContinuousClock.Instant) -> [Message] {
        streams.values.compactMap { stream in
            guard let last = toldAt[stream.number], now - last >= limits.heartbeat else { return nil }
            toldAt[stream.number] = now
            return (stream: stream, message: news(isReset: false))
        }
    }

    /// What is told to a stream of a look. Before the first look it has no position.
    private func news(isReset: Bool, _ watched: [InvitesV1.WatchedChanges] = []) -> InvitesV1.WatchGroupsResponse {
        var message = InvitesV1.WatchGroupsResponse()
        message.changed.position = .init(known?.bytes ?? [])
        message.changed.isReset = isReset
        message.changed.watched = watched
        return message
    }
}
