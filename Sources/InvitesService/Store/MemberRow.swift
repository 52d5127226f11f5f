import InvitesDomain
import Models
import Postgres
import ServiceModels

/// The columns of a member's row.
enum MemberRow {
    /// The columns that ``member(_:owner:openness:viewer:)`` reads, in order, of a table that is called `m`.
    static let columns = """
        m.member_id, m.group_id, m.user_id, m.phone, m.display_name, m.added_at, m.role, m.unconfirmed_at IS NOT NULL,
        m.added_by || m.also_added_by, \(isByUnprovenNumber)
        """
    /// The number of columns, and so the number of the first column after them.
    static let columnCount = 10

    /// SQL: whether row `m` is a member by a number alone, which they haven't proven. OFFSET 0 keeps the plan from reading all numbers.
    private static let isByUnprovenNumber = """
        (m.user_id IS NOT NULL AND m.phone IS NOT NULL AND m.confirmed_by IS NULL AND NOT EXISTS (
            SELECT FROM phones AS proof WHERE proof.phone = m.phone AND proof.proven_by = m.user_id OFFSET 0))
        """
    /// SQL: whether row `m` is a member who can't add or confirm anybody, as `GroupPolicy.isUnproven` says, for statements that choose
    /// their locks by it.
    static let isUnproven = """
        (m.role = '\(GroupRole.member.rawValue)' AND \(isByUnprovenNumber)
            AND m.user_id <> (SELECT owned.owner_user_id FROM groups AS owned WHERE owned.group_id = m.group_id))
        """

    /// The member of a row that begins with ``columns``; nil if they are null, as in an outer join.
    ///
    /// - Parameters:
    ///   - owner: the group's owner.
    ///   - openness: the group's.
    ///   - viewer: the member who makes the request.
    static func member(
        _ row: Row,
        owner: UserID,
        openness: GroupOpenness,
        viewer: MemberViewer
    ) throws -> Member? {
        guard let id = try row.decode(0, as: PostgresUUID?.self) else { return nil }
        let userID = try row.decode(2, as: PostgresUUID?.self).map { UserID($0) }
        let state = userID.map(Member.State.member) ?? (openness == .consent ? .invited : .pending)
        return Member(
            id: MemberID(id),
            groupID: GroupID(try row.decode(1, as: PostgresUUID.self)),
            state: state,
            role: try userID.map { try role(row, at: 6, isOwner: $0 == owner) },
            isUnconfirmed: try row.decode(7, as: Bool.self),
            byUnprovenNumber: try row.decode(9, as: Bool.self),
            phone: try row.decode(3, as: String?.self).flatMap(PhoneNumber.init(stored:)),
            displayName: try row.decode(4, as: String?.self).map(ContactName.init(stored:)),
            addedAtMilliseconds: try row.decode(5, as: PostgresTimestamp.self).milliseconds,
            adders: try row.decode(8, as: [PostgresUUID].self).map { UserID($0) },
            viewer: viewer
        )
    }

    /// SQL: whether any user who added the person isn't blocked by the person.
    ///
    /// - Parameters:
    ///   - person: SQL of the person's id.
    ///   - row: the alias of the members' row.
    static func isWanted(by person: String, _ row: String = "m") -> String {
        """
        EXISTS (
            SELECT FROM unnest(\(row).added_by || \(row).also_added_by) AS inviter
            WHERE NOT EXISTS (SELECT FROM blocked_inviters b WHERE b.user_id = \(person) AND b.inviter_user_id = inviter))
        """
    }

    /// SQL: whether a row waits without an adder, because all users who added it are gone, and is declined for `declined_by`, who blocked
    /// them: no further inviter takes their place. The next user who adds the person does.
    static let isLeftBehind = "(declined_by IS NOT NULL AND \(AccountStore.nobodySQL) = ANY(also_added_by))"

    /// The role of a member by the column `role` of their row. The group's owner is always the owner, whatever the column says.
    static func role(_ row: Row, at column: Int, isOwner: Bool) throws -> GroupRole {
        isOwner ? .owner : GroupRole(rawValue: try row.decode(column, as: String.self)) ?? .member
    }
}
