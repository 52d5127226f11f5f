import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels

/// Searches of operators.
extension ProfileStore {
    /// The user who has a username; nil if it is free.
    func holder(of username: Username, deadline: Deadline?) async throws(PostgresError) -> UserID? {
        let row = try await database.query(
            "SELECT user_id FROM usernames WHERE username_key = \(username.key)",
            deadline: deadline
        ).first
        return try row.map { row throws(PostgresError) in UserID(try row.decode(0, as: PostgresUUID.self)) }
    }

    /// The users whose display names begin with a text, in the order of their names, at most `limit` of them.
    ///
    /// The bounds are compared byte by byte, which is the order of the index: `LIKE` with a parameter would use none in a prepared
    /// statement. No name has the last code point there is.
    func users(named prefix: NamePrefix, limit: Int, deadline: Deadline?) async throws(PostgresError) -> [UserID] {
        let rows = try await database.query(
            """
            SELECT user_id FROM profiles
            WHERE display_name IS NOT NULL AND lower(left(display_name, 50)) ~>=~ lower(\(prefix.value)::text)
                AND lower(left(display_name, 50)) ~<~ (lower(\(prefix.value)::text) || \("\u{10FFFF}"))
            ORDER BY lower(left(display_name, 50)) USING ~<~, user_id LIMIT \(Int64(limit))
            """,
            deadline: deadline
        )
        var users: [UserID] = []
        for row in rows { users.append(UserID(try row.decode(0, as: PostgresUUID.self))) }
        return users
    }
}
