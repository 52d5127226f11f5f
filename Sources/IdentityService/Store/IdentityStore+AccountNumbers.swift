import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// The most accounts that one statement numbers: sign-ins of theirs wait for it.
    static let numberedMax = 200

    /// The session with its account's number. An account of the version before has none until it is first asked for.
    func numbered(_ session: StoredSession, deadline: Deadline?) async throws(PostgresError) -> StoredSession {
        guard session.accountNumber == nil else { return session }
        var session = session
        session.accountNumber = try await number(of: session.facts.userID, deadline: deadline)
        return session
    }

    /// Numbers accounts of the version before, at most `limit` of them, and tells how many. ORDER BY lets the index find them,
    /// also where there are none among millions.
    func numberAccounts(limit: Int) async throws(PostgresError) -> Int {
        let rows = try await database.execute(
            """
            UPDATE accounts SET number = nextval('account_numbers') WHERE user_id IN (
                SELECT user_id FROM accounts WHERE number IS NULL ORDER BY number LIMIT \(limit)
                FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
