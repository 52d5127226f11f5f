import InvitesDomain
import Models
import Postgres
import ServiceModels

/// How a group lies in its row.
enum GroupRow {
    /// The columns that ``group(_:)`` reads, in order, of a table that is called `g`.
    static let columns = "g.group_id, g.name, g.owner_user_id, g.created_at"

    /// The group of a row that begins with ``columns``.
    static func group(_ row: Row) throws -> Group {
        Group(
            id: GroupID(try row.decode(0, as: PostgresUUID.self)),
            name: GroupName(stored: try row.decode(1, as: String.self)),
            ownerID: UserID(try row.decode(2, as: PostgresUUID.self)),
            createdAtMilliseconds: try row.decode(3, as: PostgresTimestamp.self).milliseconds
        )
    }
}
