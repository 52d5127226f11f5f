import IdentityDomain
import Models
import Postgres
import RPC

/// The state of a code when a caller wants to exchange it.
enum CodeClaim: Sendable, Hashable {
    /// The caller has the claim: no other caller exchanges the code until the lease is over.
    case claimed
    /// Another caller has it.
    case held
    /// It was exchanged; this is the result, sealed.
    case exchanged(content: [UInt8], atMilliseconds: Int64)
}

extension IdentityStore {
    /// How long an exchange is remembered: longer than codes live (RFC 6749 section 4.1.2 says ten minutes at most), so that no provider
    /// gets the same code again, which it might accept twice.
    static let codeKeptMilliseconds: Int64 = 900_000

    /// Claims a code for the caller that exchanges it, unless another one has or had it.
    ///
    /// Leases are measured by the database's clock alone, so that replicas whose clocks differ agree.
    ///
    /// - Parameters:
    ///   - claimID: a unique name for the claim.
    ///   - lease: how long the claim holds if it isn't completed: then its holder has crashed.
    func claimCode(
        _ hash: [UInt8],
        claimID: PostgresUUID,
        lease: Duration,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> CodeClaim {
        let leaseMilliseconds = Int64(lease / .milliseconds(1))
        let expiresAt = PostgresTimestamp(milliseconds: nowMilliseconds + Self.codeKeptMilliseconds)
        let claimed = try await database.execute(
            """
            INSERT INTO code_exchanges AS known (code_hash, claim_id, claimed_until, expires_at)
            VALUES (\(hash), \(claimID), clock_timestamp() + \(leaseMilliseconds) * interval '1 millisecond', \(expiresAt))
            ON CONFLICT (code_hash) DO UPDATE SET
                claim_id = EXCLUDED.claim_id, claimed_until = EXCLUDED.claimed_until, expires_at = EXCLUDED.expires_at
                WHERE known.exchanged_at IS NULL AND known.claimed_until <= clock_timestamp()
            RETURNING claim_id
            """,
            deadline: deadline
        )
        if !claimed.isEmpty { return .claimed }
        let rows = try await database.query(
            "SELECT exchanged_at, content FROM code_exchanges WHERE code_hash = \(hash)",
            deadline: deadline
        )
        // Gone between the two statements: its holder released it.
        guard let row = rows.first else { return .held }
        let (exchangedAt, content) = try row.decode(PostgresTimestamp?.self, [UInt8]?.self)
        guard let exchangedAt, let content else { return .held }
        return .exchanged(content: content, atMilliseconds: exchangedAt.milliseconds)
    }

    /// Keeps the result of an exchange, unless another caller got the claim meanwhile.
    ///
    /// - Parameters:
    ///   - content: sealed.
    ///   - keptMilliseconds: how long it is kept.
    func keepExchange(
        _ hash: [UInt8],
        claimID: PostgresUUID,
        content: [UInt8],
        nowMilliseconds: Int64,
        keptMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let expiresAt = PostgresTimestamp(milliseconds: nowMilliseconds + keptMilliseconds)
        try await database.execute(
            """
            UPDATE code_exchanges SET exchanged_at = \(now), content = \(content), expires_at = \(expiresAt)
            WHERE code_hash = \(hash) AND claim_id = \(claimID) AND exchanged_at IS NULL
            """,
            deadline: deadline
        )
    }

    /// Releases a claim: the code may not be spent, and the next caller may try.
    func releaseCode(_ hash: [UInt8], claimID: PostgresUUID, deadline: Deadline?) async throws(PostgresError) {
        try await database.execute(
            "DELETE FROM code_exchanges WHERE code_hash = \(hash) AND claim_id = \(claimID) AND exchanged_at IS NULL",
            deadline: deadline
        )
    }

    /// Forgets the session of a credential that may be presented often, such as an access token: once a retry of that sign-in could not
    /// get the same session any more, the next sign-in opens another one.
    func forgetUse(
        of fingerprint: [UInt8],
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let retryStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.signInRetrySeconds * 1000)
        try await database.execute(
            """
            DELETE FROM sign_ins taken WHERE fingerprint = \(fingerprint) AND (
                created_at <= \(retryStart) OR NOT EXISTS (
                    SELECT FROM sessions session WHERE session.session_id = taken.session_id
                        AND generation = 0 AND NOT \(unsafeSQL: Self.isEnded)))
            """,
            deadline: deadline
        )
    }

    /// Forgets exchanges of codes that no caller needs any more, at most `limit`, and returns how many.
    func forgetCodeExchanges(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM code_exchanges WHERE code_hash IN (
                SELECT code_hash FROM code_exchanges WHERE expires_at <= \(now)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
