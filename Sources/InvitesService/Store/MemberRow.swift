import InvitesDomain
import Models
import Postgres
import ServiceModels

/// How a member lies in its row.
enum MemberRow {
    /// The columns that ``member(_:)`` reads, in order, of a table that is called `members` or `m`.
    static let columns = "m.member_id, m.group_id, m.user_id, m.phone, m.display_name, m.added_at"

    /// The member of a row that begins with ``columns``; nil if they are null, as an outer join leaves them.
    static func member(_ row: Row) throws -> Member? {
        guard let id = try row.decode(0, as: PostgresUUID?.self) else { return nil }
        let userID = try row.decode(2, as: PostgresUUID?.self).map { UserID($0) }
        return Member(
            id: MemberID(id),
            groupID: GroupID(try row.decode(1, as: PostgresUUID.self)),
            state: userID.map(Member.State.member) ?? .pending,
            phone: try row.decode(3, as: String?.self).flatMap(PhoneNumber.init(stored:)),
            displayName: try row.decode(4, as: String?.self).map(DisplayName.init(stored:)),
            addedAtMilliseconds: try row.decode(5, as: PostgresTimestamp.self).milliseconds
        )
    }
}
