import InvitesDomain
import Models
import Postgres

/// How the log of changes in groups is read.
///
/// A row becomes visible when its transaction ends, in no order. A ``GroupPosition`` says which rows were read, in the way of the log that made
/// it; to all others it is opaque. Any thread.
protocol GroupChangeLog: Sendable {
    /// The channel on which replicas that changed something notify the others; nil if they look by themselves alone.
    var channel: String? { get }

    /// Reads the next page of the log.
    ///
    /// - Parameters:
    ///   - start: the position up to which the log was read; nil for no entries. A position of another epoch gives none either.
    ///   - limit: the most rows to read.
    func page(after start: GroupPosition?, limit: Int) async throws -> GroupLogPage

    /// Returns what each user missed between their place and the current one, in the order of `absent`.
    ///
    /// - Parameter limit: the most events for each. If that many are returned there may be more.
    func missed(by absent: [AbsentSubscriber], until now: GroupLogPlace, limit: Int) async throws -> [[GroupChange]]

    /// Notifies all replicas on ``channel`` that something may have changed.
    func notify() async throws(PostgresError)
}

/// A subscriber who reconnects, and the place up to which they have the log.
struct AbsentSubscriber: Sendable {
    let userID: UserID
    let place: GroupLogPlace
}

/// The unread part of the log, or its first rows.
struct GroupLogPage: Sendable {
    /// A row of the log.
    struct Entry: Sendable {
        /// Its key, for logs of the service.
        let key: String
        /// Nil for a kind of a later version.
        let event: GroupEventStore.Event?
    }

    /// The position from which it was read; nil for no entries.
    let start: GroupPosition?
    /// The position that has everything that was visible.
    let head: GroupPosition
    /// In the order of the log.
    let entries: [Entry]
    /// Whether there may be more.
    let isFull: Bool
    /// The place after the first entries, where these are not all that was visible; nil if no page from ``start`` ends there.
    private let placeWithin: @Sendable (Int) -> GroupLogPlace?

    /// A page with entries.
    init(
        start: GroupPosition,
        head: GroupPosition,
        entries: [Entry],
        limit: Int,
        placeWithin: @escaping @Sendable (Int) -> GroupLogPlace?
    ) {
        (self.start, self.head, self.entries, self.placeWithin) = (start, head, entries, placeWithin)
        isFull = entries.count >= limit
    }

    /// A page without entries, where reading begins.
    init(head: GroupPosition) {
        (start, self.head, entries, isFull, placeWithin) = (nil, head, [], false, { _ in nil })
    }

    /// The events of some entries.
    func events(in places: Range<Int>) -> [GroupEventStore.Event] { entries[places].compactMap(\.event) }

    /// The position after the first entries.
    func position(behind count: Int) -> GroupPosition {
        guard let start, count < entries.count || isFull else { return head }
        guard count > 0, let place = placeWithin(count) else { return start }
        // The time stays, since unread rows may be as old.
        return GroupPosition(epoch: start.epoch, madeAtSeconds: start.madeAtSeconds, place: place)
    }
}

extension GroupChangeLog {
    /// The changes of rows with a subscriber's place in the list, from 1, and an event.
    func changes(_ rows: Rows, of count: Int, limit: Int) throws -> [[GroupChange]] {
        var missed = [[GroupChange]](repeating: [], count: count)
        var rowCounts = [Int](repeating: 0, count: count)
        for row in rows {
            let place = Int(try row.decode(0, as: Int64.self)) - 1
            guard missed.indices.contains(place) else { throw GroupEventStore.unreadable }
            rowCounts[place] += 1
            // A kind of a later version is for that version's replicas.
            if let event = try GroupEventStore.event(row, at: 1) { missed[place].append(event.change) }
        }
        // If such kinds used up the limit it is unknown what is behind them. A list that reaches the limit says so.
        for place in missed.indices where rowCounts[place] >= limit && missed[place].count < limit {
            guard let change = missed[place].last else { throw GroupEventStore.unreadable }
            missed[place] += Array(repeating: change, count: limit - missed[place].count)
        }
        return missed
    }
}
