import InvitesDomain
import Models
import Postgres
import ServiceModels

/// The recipients of a group's changes.
extension GroupEventStore {
    /// The recipients of group changes for which the log names no user: the one rule, from which both queries below are made.
    ///
    /// A row says that a user gets the changes of a group that are for its members, or those for people whom it invites. Members are found
    /// by `linked_at`, and numbers by their keys, as `GroupEventTables` explains.
    static let recipients = """
        SELECT m.group_id, m.user_id, false AS is_invited FROM members m WHERE m.linked_at IS NOT NULL
        UNION ALL
        SELECT m.group_id, p.user_id, true FROM members m JOIN phones p ON p.phone = m.phone WHERE m.user_id IS NULL
        """

    /// Whether a row of the log without a user is for people whom the group invites. In Swift it is ``Event/Audience``.
    static let isForInvited = "g.kind = '\(GroupChange.Kind.invitationChanged.rawValue)'"

    /// Recipients of group changes, among the subscribers.
    struct Audiences: Sendable {
        var members: [GroupID: [UserID]] = [:]
        var awaited: [GroupID: [UserID]] = [:]
        /// The number of recipients, each counted once per group.
        var count = 0

        mutating func merge(_ other: Audiences) {
            members.merge(other.members) { $0 + $1 }
            awaited.merge(other.awaited) { $0 + $1 }
            count += other.count
        }
    }

    /// More subscribers are in the groups of these events than are read at once.
    struct TooManyRecipients: Error {}

    /// The maximum of subscribers in one statement.
    static let watchingMax = 10_000
    /// The maximum of recipients that are read for a set of events, each counted once per group. One group has fewer.
    static let recipientsMax = 100_000

    /// Returns which subscribers get events of groups. Nothing is read about other users.
    ///
    /// - Parameters:
    ///   - watching: all different. More than `watchingMax` take several statements.
    ///   - isByUser: whether to read only these users' memberships, and nothing else of the groups, whichever side is larger.
    /// - Throws: ``TooManyRecipients``.
    func audiences(of events: [Event], watching: [UserID], isByUser: Bool = false) async throws -> Audiences {
        var groups: Set<Event.Audience> = []
        for event in events { if case .user = event.audience { continue } else { groups.insert(event.audience) } }
        var audiences = Audiences()
        guard !groups.isEmpty else { return audiences }
        for start in stride(from: 0, to: watching.count, by: Self.watchingMax) {
            let users = watching[start..<min(start + Self.watchingMax, watching.count)].map(\.uuid)
            audiences.merge(try await read(groups, for: users, isByUser: isByUser || users.count < groups.count))
            guard audiences.count < Self.recipientsMax else { throw TooManyRecipients() }
        }
        return audiences
    }

    /// The smaller side drives: a group has a bounded number of members and a user a bounded number of groups. The other side is looked up
    /// in a hash table.
    private func read(_ groups: Set<Event.Audience>, for users: [PostgresUUID], isByUser: Bool) async throws
        -> Audiences
    {
        var (ids, areInvited): ([PostgresUUID], [Bool]) = ([], [])
        for group in groups {
            switch group {
            case .user: continue
            case .members(let id):
                ids.append(id.uuid)
                areInvited.append(false)
            case .awaited(let id):
                ids.append(id.uuid)
                areInvited.append(true)
            }
        }
        let rows =
            isByUser
            ? try await database.query(
                """
                SELECT group_id, is_invited, array_agg(user_id) FROM (
                    SELECT DISTINCT l.* FROM unnest(\(users)) AS watcher (user_id) CROSS JOIN LATERAL (
                        SELECT * FROM (\(unsafeSQL: Self.recipients)) r WHERE r.user_id = watcher.user_id OFFSET 0
                    ) l
                    WHERE ((l.group_id, l.is_invited) IN (SELECT * FROM unnest(\(ids), \(areInvited)))) IS TRUE
                    LIMIT \(Self.recipientsMax)
                ) found GROUP BY group_id, is_invited
                """
            )
            : try await database.query(
                """
                SELECT group_id, is_invited, array_agg(user_id) FROM (
                    SELECT DISTINCT l.* FROM unnest(\(ids), \(areInvited)) AS changed (group_id, is_invited) CROSS JOIN LATERAL (
                        SELECT * FROM (\(unsafeSQL: Self.recipients)) r
                        WHERE r.group_id = changed.group_id AND r.is_invited = changed.is_invited OFFSET 0
                    ) l
                    WHERE (l.user_id IN (SELECT unnest(\(users)))) IS TRUE
                    LIMIT \(Self.recipientsMax)
                ) found GROUP BY group_id, is_invited
                """
            )
        var audiences = Audiences()
        for row in rows {
            let (group, isInvited, found) = try row.decode(PostgresUUID.self, Bool.self, [PostgresUUID].self)
            let users = found.map { UserID($0) }
            audiences.count += users.count
            if isInvited {
                audiences.awaited[GroupID(group)] = users
            } else {
                audiences.members[GroupID(group)] = users
            }
        }
        return audiences
    }

    /// The maximum of rows that are read for one reconnecting subscriber; more than are delivered.
    static let examinedMax = 2_000
}
