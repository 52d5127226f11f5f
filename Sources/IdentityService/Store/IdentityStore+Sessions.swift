import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// Exchanges a refresh token: the session as it is afterwards, whose current generation's token is the successor.
    ///
    /// One statement decides, so concurrent refreshes agree: the row's lock lets them in one by one, and each judges
    /// the row as the one before left it. A token presented again within the grace changes nothing.
    ///
    /// - Parameter presentedAtMilliseconds: when its owner presented it, at most `nowMilliseconds`.
    /// - Returns: what was decided, and the session unless there is none: its successor is to be handed out only if the
    ///   verdict has no fault.
    func refresh(
        _ token: RefreshToken,
        presentedAtMilliseconds: Int64,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> (verdict: RefreshVerdict, session: StoredSession?) {
        let rows = try await database.executeTogether(
            refreshStatement(
                token,
                presentedAtMilliseconds: presentedAtMilliseconds,
                nowMilliseconds: nowMilliseconds
            ),
            key: LockKey(token.sessionID.uuid),
            deadline: deadline
        )
        guard let row = rows.first else { return (.mismatched, nil) }
        let (word, userID, provider, clientID, createdAt, endsAt, toldName) = try row.decode(
            String.self,
            PostgresUUID.self,
            String.self,
            String.self,
            PostgresTimestamp.self,
            PostgresTimestamp.self,
            String?.self
        )
        guard let verdict = RefreshVerdict(rawValue: word), let provider = ProviderName(provider) else {
            throw PostgresError.decoding(DecodingFault(column: 0, reason: "an unknown verdict or provider name"))
        }
        let facts = SessionFacts(
            userID: UserID(userID),
            sessionID: token.sessionID,
            provider: provider,
            clientID: clientID,
            signedInAtSeconds: createdAt.secondsSince1970
        )
        let session = StoredSession(
            facts: facts,
            nonce: token.nonce,
            generation: token.generation + 1,
            toldName: toldName,
            endsAtSeconds: endsAt.secondsSince1970,
            accountNumber: try row.decode(7),
            email: EmailFacts(
                address: try row.decode(8),
                isVerified: try row.decode(9),
                isPrivate: try row.decode(10)
            )
        )
        return (verdict, session)
    }

    private func refreshStatement(
        _ token: RefreshToken,
        presentedAtMilliseconds: Int64,
        nowMilliseconds: Int64
    ) -> Query {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let presentedAt = PostgresTimestamp(milliseconds: presentedAtMilliseconds)
        let graceStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.refreshGraceSeconds * 1000)
        let idleStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.inactivitySeconds * 1000)
        let presented = Int64(token.generation)
        return """
            WITH session AS MATERIALIZED (
                SELECT session_id, user_id, provider, client_id, created_at, expires_at,
                    CASE
                        WHEN nonce <> \(token.nonce) THEN 'mismatched'
                        WHEN \(unsafeSQL: Self.isEnded) THEN 'revoked'
                        WHEN expires_at <= \(now) OR last_used_at <= \(idleStart) THEN 'expired'
                        WHEN generation = \(presented) THEN 'rotated'
                        WHEN generation = \(presented) + 1 AND rotated_at > \(graceStart) THEN 'repeated'
                        WHEN generation > \(presented) AND rotated_at > \(presentedAt) THEN 'late'
                        WHEN generation > \(presented) THEN 'reused'
                        ELSE 'mismatched'
                    END AS verdict
                FROM sessions session WHERE session_id = \(token.sessionID.uuid)
                FOR UPDATE
            ), rotated AS (
                UPDATE sessions SET generation = generation + 1, rotated_at = \(now), last_used_at = \(now)
                FROM session WHERE sessions.session_id = session.session_id AND session.verdict = 'rotated'
            ), ended AS (
                UPDATE sessions SET revoked_at = \(now), revoke_reason = 'reuse', expires_at = \(now)
                FROM session WHERE sessions.session_id = session.session_id AND session.verdict = 'reused'
            )
            SELECT verdict, user_id, provider, client_id, created_at, expires_at,
                COALESCE(person.told_name, (SELECT told_name FROM provider_identities identity
                    WHERE identity.user_id = session.user_id AND told_name IS NOT NULL
                    ORDER BY identity.created_at LIMIT 1)),
                person.number, person.email, COALESCE(person.is_email_verified, false),
                COALESCE(person.is_private_email, false)
            FROM session LEFT JOIN LATERAL (
                SELECT account.number, identity.told_name, identity.email, identity.is_email_verified,
                    identity.is_private_email
                FROM provider_identities identity JOIN accounts account USING (user_id)
                WHERE identity.user_id = session.user_id AND identity.provider = session.provider
                ORDER BY identity.created_at LIMIT 1
            ) person ON true
            """
    }

    /// What is read of a row of `sessions session` that ``sessionState(_:_:_:_:_:)`` takes.
    static let sessionStateColumns = "user_id, \(isEnded), expires_at, proof, dialect"

    private static let sessionStateRead = KeyedRead(
        sessionStateColumns,
        from: "sessions session",
        key: "session_id",
        keyType: .uuid
    )

    static func sessionState(
        _ userID: PostgresUUID,
        _ isEnded: Bool,
        _ endsAt: PostgresTimestamp,
        _ proof: String?,
        _ dialect: String?
    ) throws(PostgresError) -> SessionState {
        var known: Proof?
        if let proof {
            known = Proof(rawValue: proof)
            if known == nil { throw .decoding(DecodingFault(column: 3, reason: "an unknown proof")) }
        }
        return SessionState(
            userID: UserID(userID),
            isEnded: isEnded,
            endsAtMilliseconds: endsAt.milliseconds,
            proof: known,
            dialect: dialect
        )
    }

    /// The session of an access token, if it is alive: one indexed read, so that a revocation holds at once.
    ///
    /// - Throws: `IdentityFault`, or what the database throws.
    nonisolated(nonsending) func aliveSession(
        of claims: AccessClaims,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SessionState {
        let key = ReadKey(claims.sessionID.uuid)
        guard let row = try await database.row(Self.sessionStateRead, key: key, deadline: deadline) else {
            throw IdentityFault.sessionInvalid
        }
        let (userID, isEnded, endsAt, proof, dialect) = try row.decode(
            PostgresUUID.self,
            Bool.self,
            PostgresTimestamp.self,
            String?.self,
            String?.self
        )
        let state = try Self.sessionState(userID, isEnded, endsAt, proof, dialect)
        try state.checkAlive(for: claims.userID, nowMilliseconds: nowMilliseconds)
        return state
    }
}
