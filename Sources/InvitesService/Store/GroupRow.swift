import InvitesDomain
import Models
import Postgres
import ServiceModels

/// The columns of a group's row, and the caller's role from the member's row.
enum GroupRow {
    /// The columns that ``group(_:)`` reads, in order, of a table that is called `g` and the asking user's row in `m`.
    static let columns = "g.group_id, g.name, g.owner_user_id, g.created_at, g.openness, m.user_id, m.role"
    /// The number of columns, and so the number of the first column after them.
    static let columnCount = 7

    /// The group of a row that begins with ``columns``.
    static func group(_ row: Row) throws -> Group {
        let owner = try row.decode(2, as: PostgresUUID.self)
        return Group(
            id: GroupID(try row.decode(0, as: PostgresUUID.self)),
            name: GroupName(stored: try row.decode(1, as: String.self)),
            ownerID: UserID(owner),
            openness: try openness(row, at: 4),
            callerRole: try MemberRow.role(row, at: 6, isOwner: try row.decode(5, as: PostgresUUID.self) == owner),
            createdAtMilliseconds: try row.decode(3, as: PostgresTimestamp.self).milliseconds
        )
    }

    /// The openness in a column. An unknown word is from a later version: it is read as the openness that reveals least.
    static func openness(_ row: Row, at column: Int) throws -> GroupOpenness {
        GroupOpenness(rawValue: try row.decode(column, as: String.self)) ?? .consent
    }
}
