import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    private static let accountNumber = KeyedRead("number", from: "accounts", key: "user_id", keyType: .uuid)

    /// An account's number; nil if there is no such account.
    func number(of userID: UserID, deadline: Deadline?) async throws(PostgresError) -> Int64? {
        try await database.row(Self.accountNumber, key: ReadKey(userID.uuid), deadline: deadline)?.decode(0)
    }

    /// The session with its account's number, which its statement could not see if the account was opened at the same moment.
    func numbered(_ session: StoredSession, deadline: Deadline?) async throws(PostgresError) -> StoredSession {
        guard session.accountNumber == nil else { return session }
        var session = session
        session.accountNumber = try await number(of: session.facts.userID, deadline: deadline)
        return session
    }
}
