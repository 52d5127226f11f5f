import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels

/// The result of using credentials up.
enum CredentialsClaim: Sendable, Hashable {
    /// They were used up now.
    case claimed
    /// They had been used up before, or may not be used now.
    case refused
    /// There are none.
    case none
}

extension ClosingGround {
    /// The provider's credentials that came with the deletion.
    var credentials: SignIn? {
        if case .session(let session) = self { session.credentials } else { nil }
    }
}

extension IdentityStore {
    /// Uses credentials up, as the statement that opens a session does. Details that came with them before they could be verified are
    /// forgotten.
    ///
    /// The session's id is replaced by a mark that names no session, so that no client gets tokens by them.
    func claim(
        _ credentials: SignIn?,
        for userID: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> CredentialsClaim {
        guard let credentials else { return .none }
        let issuedAt = PostgresTimestamp(secondsSince1970: credentials.issuedAtSeconds)
        let expiry = PostgresTimestamp(secondsSince1970: credentials.acceptedUntilSeconds)
        let mark = Self.deletionMark(of: userID, credentials.fingerprint)
        let rows = try await transaction.execute(
            """
            WITH epoch AS (
                SELECT FROM session_epoch WHERE sessions_from <= \(issuedAt) AND \(credentials.mayBeFirst) LIMIT 1
            ), ticket AS (
                DELETE FROM web_tickets WHERE ticket_hash = \(credentials.ticketHash) AND EXISTS (SELECT FROM epoch)
                RETURNING ticket_hash
            ), claimed AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(credentials.fingerprint), \(mark), \(now), \(expiry) FROM epoch
                WHERE \(credentials.ticketHash) IS NULL OR EXISTS (SELECT FROM ticket)
                ON CONFLICT (fingerprint) DO NOTHING
                RETURNING session_id
            ), claimed_too AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(credentials.retryFingerprint), session_id, \(now), \(expiry) FROM claimed
                WHERE \(credentials.retryFingerprint) IS NOT NULL
                ON CONFLICT (fingerprint) DO NOTHING
            ), told AS (
                DELETE FROM told_once WHERE fingerprint = ANY (\(credentials.toldOnceKeys)) AND EXISTS (SELECT FROM claimed)
            )
            SELECT FROM claimed
            """
        )
        return rows.isEmpty ? .refused : .claimed
    }

    /// Throws unless credentials are of an identity that opens the account. Called under the locks of identities and account.
    func check(
        _ credentials: SignIn,
        _ claim: CredentialsClaim,
        of userID: UserID,
        among identities: [LockedIdentity],
        in transaction: PostgresTransaction
    ) async throws {
        let named = identities.first {
            $0.provider == credentials.provider.value && $0.subject == credentials.subject
        }
        guard let named, named.userID == userID, !named.isUnproven else { throw IdentityError.credentialsForeign }
        guard claim == .claimed else {
            throw try await refusal(of: credentials) { try await transaction.execute($0) }
        }
        if named.isDisabled { throw IdentityError.signIn(.providerAccountDisabled) }
        let issuedAt = PostgresTimestamp(secondsSince1970: credentials.issuedAtSeconds)
        if named.tokensFrom.map({ $0 > issuedAt }) == true { throw IdentityError.token(.expired) }
    }

    /// Returns whether credentials name an identity of an account. A decision based on it is checked again under the locks.
    func isIdentity(
        _ credentials: SignIn,
        of userID: UserID,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        try await !database.query(
            """
            SELECT FROM provider_identities
            WHERE provider = \(credentials.provider.value) AND subject = \(credentials.subject)
                AND user_id = \(userID.uuid) AND unproven_dialect IS NULL
            """,
            deadline: deadline
        ).isEmpty
    }

    /// The mark in place of a session's id for credentials that deleted an account. No session has it.
    private static func deletionMark(of userID: UserID, _ fingerprint: [UInt8]) -> PostgresUUID {
        let hash = SHA256.hash(Array("vestibule deletion 1\0".utf8) + userID.bytes + fingerprint)
        // 128 bits of a hash: never nil.
        return PostgresUUID(bytes: Array(hash.prefix(16))) ?? PostgresUUID(high: 0, low: 0)
    }
}
