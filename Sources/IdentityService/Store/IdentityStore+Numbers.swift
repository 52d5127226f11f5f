import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    private static let accountNumber = KeyedRead("number", from: "accounts", key: "user_id", keyType: .uuid)

    /// An account's number; nil if there is no such account. One of the version before gets its number now.
    func number(of userID: UserID, deadline: Deadline?) async throws(PostgresError) -> Int64? {
        guard let row = try await database.row(Self.accountNumber, key: ReadKey(userID.uuid), deadline: deadline) else {
            return nil
        }
        if let number = try row.decode(0, as: Int64?.self) { return number }
        // Who comes second waits for the row and finds the number of the first.
        let rows = try await database.execute(
            """
            UPDATE accounts SET number = COALESCE(number, nextval('account_numbers')) WHERE user_id = \(userID.uuid)
            RETURNING number
            """,
            deadline: deadline
        )
        return try rows.first?.decode(0, as: Int64.self)
    }
}
