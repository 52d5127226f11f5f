import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// What a token that asks for a sign-out says of its session.
struct SigningOut: Sendable, Hashable {
    let sessionID: SessionID
    /// Whose it is; nil where the token doesn't say.
    let userID: UserID?
    /// What only the session's row knows; nil where the token doesn't say.
    let nonce: [UInt8]?
    /// The token's number; nil for other tokens than refresh tokens.
    let number: UInt32?

    /// An access token's session.
    init(_ claims: AccessClaims) {
        sessionID = claims.sessionID
        userID = claims.userID
        nonce = nil
        number = nil
    }

    /// A single token's session.
    init(_ claims: SingleClaims) {
        sessionID = claims.sessionID
        userID = claims.userID
        nonce = claims.nonce
        number = nil
    }

    /// A refresh token's session.
    init(_ token: RefreshToken) {
        sessionID = token.sessionID
        userID = nil
        nonce = token.nonce
        number = token.number
    }
}

extension IdentityStore {
    /// Ends a session at the wish of the OAuth client that it was opened for.
    ///
    /// - Returns: whether it was alive, and that client's.
    func signOut(
        _ session: SigningOut,
        ofClient clientID: String,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.executeTogether(
            """
            UPDATE sessions SET revoked_at = \(now), revoke_reason = 'sign_out', expires_at = LEAST(expires_at, \(now))
            WHERE session_id = \(session.sessionID.uuid) AND revoked_at IS NULL AND scope IS NOT NULL
                AND client_id = \(clientID) AND (\(session.nonce) IS NULL OR nonce = \(session.nonce))
            """,
            key: LockKey(session.sessionID.uuid),
            deadline: deadline
        )
        return rows.affected > 0
    }

    /// Ends a session at its owner's wish. Ending one that is unknown or over changes nothing (RFC 7009 section 2.2).
    func signOut(
        _ session: SigningOut,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        _ = try await database.executeTogether(
            """
            UPDATE sessions SET revoked_at = \(now), revoke_reason = 'sign_out', expires_at = LEAST(expires_at, \(now))
            WHERE session_id = \(session.sessionID.uuid) AND revoked_at IS NULL
                AND (\(session.nonce) IS NULL OR nonce = \(session.nonce))
            """,
            key: LockKey(session.sessionID.uuid),
            deadline: deadline
        )
    }

    /// Ends a session of an account; of a browser's also the sessions that it opened for OAuth clients, except where the client was
    /// granted `offline_access` (OpenID Connect Back-Channel Logout 1.0 section 2.7). All clients are notified, also those. Ending one that is
    /// over changes nothing.
    ///
    /// The browser's row is locked first, by a statement of its own: the next one then sees the sessions that were opened from it while
    /// this one waited. All others are locked in the order of their ids, as by all statements that lock several sessions; the ids of those
    /// that a browser's session opened are greater than its own.
    ///
    /// - Returns: whether the account has a session of this id, alive or over.
    func endSession(
        _ sessionID: SessionID,
        of userID: UserID,
        reason: SessionEnd,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let id = sessionID.uuid
        return try await database.withTransaction(retries: 3, deadline: deadline) { transaction in
            try await transaction.execute(
                "SELECT FROM sessions WHERE session_id = \(id) AND user_id = \(userID.uuid) FOR UPDATE"
            )
            let rows = try await transaction.execute(
                """
                WITH locked AS MATERIALIZED (
                    SELECT session_id, client_id, tells_client,
                        COALESCE(session_id <> \(id) AND \(OAuthScope.offlineAccess.rawValue) = ANY (string_to_array(scope, ' ')), false)
                            AS stays
                    FROM sessions
                    WHERE user_id = \(userID.uuid) AND (session_id = \(id) OR browser_session_id = \(id))
                        AND revoked_at IS NULL AND (session_id = \(id) OR expires_at > \(now))
                    ORDER BY session_id FOR UPDATE
                ), ended AS (
                    UPDATE sessions SET revoked_at = \(now), revoke_reason = \(reason.rawValue),
                        expires_at = LEAST(sessions.expires_at, \(now))
                    FROM locked WHERE sessions.session_id = locked.session_id AND NOT stays
                ), told AS (
                    INSERT INTO work (queue, event_id, user_id, created_at, data)
                    SELECT \(LogoutWork.queueName), session_id, \(userID.uuid), \(now), jsonb_build_object('client_id', client_id)
                    FROM locked WHERE stays AND tells_client
                    ON CONFLICT DO NOTHING
                )
                SELECT EXISTS (SELECT FROM sessions WHERE session_id = \(id) AND user_id = \(userID.uuid))
                """
            )
            return try rows.first?.decode(0, as: Bool.self) ?? false
        }
    }

    /// Ends all live sessions of the account of a live session, or all but that one.
    ///
    /// One statement decides: it locks the account's sessions, in the order of their ids as commits of several refreshes
    /// do, and judges the token's as the refresh before left it. A session that is begun at the same time may stay.
    ///
    /// - Parameter keepsOwn: whether the token's own session goes on.
    /// - Returns: what was decided; nothing was ended unless it is `done`.
    func signOutAll(
        of session: SigningOut,
        keepsOwn: Bool,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> SignOutVerdict {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let idleStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.inactivitySeconds * 1000)
        let own = session.sessionID.uuid
        let presented = session.number.map(Int64.init)
        let graceStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.refreshGraceSeconds * 1000)
        // Use is written down for tokens that carry the nonce; an access token is young.
        // The account first, as by all that open sessions: a sign-in that ends sessions in excess locks several, too.
        let rows = try await database.execute(
            """
            WITH account AS MATERIALIZED (
                SELECT user_id FROM accounts WHERE user_id = (SELECT user_id FROM sessions WHERE session_id = \(own))
                FOR NO KEY UPDATE
            ), locked AS MATERIALIZED (
                SELECT session_id, user_id, revoke_reason,
                    CASE
                        WHEN session_id <> \(own) THEN NULL
                        WHEN (\(session.nonce) IS NOT NULL AND nonce <> \(session.nonce))
                            OR (\(session.userID?.uuid) IS NOT NULL AND user_id <> \(session.userID?.uuid))
                            THEN 'mismatched'
                        WHEN \(unsafeSQL: Self.isEnded) THEN 'revoked'
                        WHEN expires_at <= \(now) OR (\(session.nonce) IS NOT NULL AND last_used_at <= \(idleStart))
                            THEN 'expired'
                        WHEN \(presented) IS NOT NULL AND NOT (
                            \(presented) >= \(unsafeSQL: Self.firstChild) OR \(presented) = \(unsafeSQL: Self.base)
                            OR \(presented) >= \(unsafeSQL: Self.previous)
                                AND \(unsafeSQL: Self.acknowledgedAt) > \(graceStart))
                            THEN 'superseded'
                        WHEN proof = 'unproven' OR dialect IS NOT NULL THEN 'unproven'
                        ELSE 'done'
                    END AS verdict
                FROM sessions session
                WHERE user_id = (SELECT user_id FROM account)
                    AND (session_id = \(own) OR NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now))
                ORDER BY session_id
                FOR UPDATE
            ), ended AS (
                UPDATE sessions SET revoked_at = \(now), revoke_reason = 'sign_out',
                    expires_at = LEAST(sessions.expires_at, \(now))
                FROM locked
                WHERE sessions.session_id = locked.session_id AND sessions.revoked_at IS NULL
                    AND EXISTS (SELECT FROM locked WHERE verdict = 'done')
                    AND NOT (\(keepsOwn) AND locked.session_id = \(own))
                RETURNING sessions.session_id
            ), told AS (
                INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
                SELECT security_event_id(\(now), false), user_id, session_id,
                    \(SecurityEvent.sessionsEndedEverywhere.rawValue), \(now),
                    jsonb_build_object('by', 'owner', 'sessions', (SELECT count(*) FROM ended))
                FROM locked WHERE verdict = 'done' AND EXISTS (SELECT FROM ended)
            )
            SELECT CASE
                    WHEN verdict = 'revoked' AND revoke_reason = 'sign_out' AND NOT \(keepsOwn)
                        AND NOT EXISTS (SELECT FROM locked WHERE session_id <> \(own)) THEN 'repeated'
                    ELSE verdict
                END
            FROM locked WHERE session_id = \(own)
            """,
            deadline: deadline
        )
        guard let word = try rows.first?.decode(0, as: String.self) else { return .mismatched }
        guard let verdict = SignOutVerdict(rawValue: word) else {
            throw PostgresError.decoding(CellDecodingError(column: 0, reason: "an unknown verdict"))
        }
        return verdict
    }
}
