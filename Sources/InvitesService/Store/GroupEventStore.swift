import InvitesDomain
import Models
import Postgres
import ServiceModels

/// The log of changes in groups: triggers write it, and ``log`` reads it.
struct GroupEventStore: Sendable {
    let database: PostgresClient
    /// How the log is read: by the database's snapshots, or by its clock where snapshots can't be compared.
    let log: any GroupChangeLog

    /// A change and its audience.
    struct Event: Sendable, Hashable {
        /// The recipients of a change.
        enum Audience: Sendable, Hashable {
            case user(UserID)
            /// The members of a group at the moment of delivery.
            case members(GroupID)
            /// The users who have a number that a group awaits at the moment of delivery.
            case awaited(GroupID)
        }

        let change: GroupChange
        let audience: Audience
    }

    /// Deletes changes that are older than `age`, at most `limit` of them, and returns how many.
    func forget(olderThan age: Duration, limit: Int) async throws -> Int {
        let seconds = Double(age.components.seconds)
        return try await database.execute(
            """
            DELETE FROM group_events WHERE (xid, id) IN (
                SELECT xid, id FROM group_events WHERE made_at <= now() - make_interval(secs => \(seconds))
                ORDER BY made_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }

    /// Names the epoch that a crash, a failover, a restore or the first start began; two replicas agree on one name.
    static func beginEpoch(_ database: PostgresClient) async throws {
        try await database.execute("INSERT INTO group_event_epoch DEFAULT VALUES ON CONFLICT (singleton) DO NOTHING")
    }

    /// The event of a row from a column on: kind, user, group, member; nil for nulls.
    static func event(_ row: Row, at column: Int) throws -> Event? {
        guard let name = try row.decode(column, as: String?.self) else { return nil }
        // A kind of a later version is for that version's replicas.
        guard let kind = GroupChange.Kind(rawValue: name) else { return nil }
        let groupID = try row.decode(column + 2, as: PostgresUUID?.self).map { GroupID($0) }
        let userID = try row.decode(column + 1, as: PostgresUUID?.self).map { UserID($0) }
        let change = GroupChange(
            kind,
            // Only the user is named, not the group.
            groupID: kind == .invitationChanged ? nil : groupID,
            memberID: try row.decode(column + 3, as: PostgresUUID?.self).map { MemberID($0) }
        )
        if let userID { return Event(change: change, audience: .user(userID)) }
        // Without a group and without a user: from a later version.
        guard let groupID else { return nil }
        return Event(change: change, audience: kind == .invitationChanged ? .awaited(groupID) : .members(groupID))
    }

    static let unreadable = PostgresError.decoding(CellDecodingError(column: 0, reason: "no place in the log"))
}

extension GroupEventStore {
    /// The log, read as the database's engine allows.
    init(database: PostgresClient) {
        switch database.configuration.engine {
        case .postgresql: self.init(database: database, log: SnapshotGroupLog(database: database))
        case .distributed: self.init(database: database, log: ClockGroupLog(database: database))
        }
    }
}
