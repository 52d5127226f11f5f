import IdentityDomain
import JOSE
import Postgres
import ServiceModels

extension IdentityStore {
    // The numbers of a session that was never refreshed, whose columns are null: the token of its sign-in was issued, and nobody has
    // shown yet that it was received.

    /// The newest number that was received, of a row of `sessions session`; -1 if none was.
    static let base = "COALESCE(session.base, session.generation - 1)"
    /// The one received before it.
    static let previous = "COALESCE(session.previous, session.base, session.generation - 1)"
    /// The oldest number issued since the base was received; one more than `generation` if none was.
    static let firstChild = "COALESCE(session.first_child, session.generation)"
    /// When the base was received.
    static let acknowledgedAt = "COALESCE(session.acknowledged_at, session.rotated_at, session.created_at)"

    /// The person's data for the tokens of a row `session`, for `SELECT` after its verdict and before its number.
    private static let personColumns = """
        user_id, provider, client_id, created_at, expires_at,
            COALESCE(person.told_name, (SELECT told_name FROM provider_identities identity
                WHERE identity.user_id = session.user_id AND told_name IS NOT NULL
                ORDER BY identity.created_at LIMIT 1)),
            person.number, person.email, COALESCE(person.is_email_verified, false),
            COALESCE(person.is_private_email, false), session.scope, session.resource, session.proof, session.key_thumbprint
        """
    /// The source of those columns.
    private static let personSource = """
        session LEFT JOIN LATERAL (
            SELECT account.number, identity.told_name, identity.email, identity.is_email_verified,
                identity.is_private_email
            FROM provider_identities identity JOIN accounts account USING (user_id)
            WHERE identity.user_id = session.user_id AND identity.provider = session.provider
            ORDER BY identity.created_at LIMIT 1
        ) person ON true
        """

    /// The statement of nearly all refreshes: it advances the session if ``refreshStatement(_:presentedAtMilliseconds:nowMilliseconds:)``
    /// would judge `rotated` or `sibling`, for a fourth less of the server's work, and returns the same columns. Otherwise it does
    /// nothing and returns no row, and the other statement is used.
    func usualRefreshStatement(
        _ token: RefreshToken,
        ofClient clientID: String?,
        key: JWKThumbprint?,
        nowMilliseconds: Int64
    ) -> Query {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let graceStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.refreshGraceSeconds * 1000)
        let idleStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.inactivitySeconds * 1000)
        let number = Int64(token.number)
        // The condition is checked again on the row as another statement left it, if this one had to wait for it.
        return """
            WITH session AS (
                UPDATE sessions session SET
                    previous = CASE WHEN \(number) = \(unsafeSQL: Self.base) THEN \(unsafeSQL: Self.previous)
                        ELSE \(unsafeSQL: Self.base) END,
                    base = \(number),
                    first_child = CASE WHEN \(number) = \(unsafeSQL: Self.base) THEN \(unsafeSQL: Self.firstChild)
                        ELSE generation + 1 END,
                    acknowledged_at = CASE WHEN \(number) = \(unsafeSQL: Self.base) THEN \(unsafeSQL: Self.acknowledgedAt)
                        ELSE \(now) END,
                    generation = generation + 1, rotated_at = \(now), last_used_at = \(now)
                WHERE session_id = \(token.sessionID.uuid) AND nonce = \(token.nonce) AND NOT \(unsafeSQL: Self.isEnded)
                    AND client_id = COALESCE(\(clientID), client_id) AND (scope IS NULL) = (\(clientID) IS NULL)
                    AND (key_thumbprint IS NULL OR key_thumbprint = \(key?.bytes))
                    AND expires_at > \(now) AND last_used_at > \(idleStart) AND generation < \(Int64(UInt32.max))
                    AND \(number) <= generation
                    AND (\(number) >= \(unsafeSQL: Self.firstChild) OR \(number) = \(unsafeSQL: Self.base)
                        AND (generation < \(unsafeSQL: Self.firstChild) OR (rotated_at > \(graceStart)) IS NOT TRUE))
                RETURNING user_id, provider, client_id, created_at, expires_at, generation, first_child, scope, resource, proof,
                    key_thumbprint
            )
            SELECT CASE WHEN generation > first_child THEN 'sibling' ELSE 'rotated' END,
                \(unsafeSQL: Self.personColumns), generation
            FROM \(unsafeSQL: Self.personSource)
            """
    }

    /// The statement of a refresh.
    ///
    /// Tokens are numbered as they are issued: `generation` is the newest. The tokens between the base and it were issued for the base,
    /// and may not have been received. So a client that presents the base again, however late, gets another one beside them. The first of
    /// them that is used becomes the base, and the others are worth nothing: if one is presented, two clients have tokens of the session.
    func refreshStatement(
        _ token: RefreshToken,
        ofClient clientID: String?,
        key: JWKThumbprint?,
        presentedAtMilliseconds: Int64,
        nowMilliseconds: Int64
    ) -> Query {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let presentedAt = PostgresTimestamp(milliseconds: presentedAtMilliseconds)
        let graceStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.refreshGraceSeconds * 1000)
        let idleStart = PostgresTimestamp(milliseconds: nowMilliseconds - limits.inactivitySeconds * 1000)
        let number = Int64(token.number)
        let numberMax = Int64(UInt32.max)
        // Nothing is known of the numbers that were received between the base of an older copy of the database and a number ahead of it.
        // They count as received in turn: access tokens of them may be in use, and don't belong to a dead sibling.
        //
        // Only what was read under the row's lock decides what the row becomes. The update first tries the row as it was when the
        // statement began, and the table's CHECK refuses a mixture of both before it is found that the row has changed since.
        return """
            WITH session AS MATERIALIZED (
                SELECT session_id, user_id, provider, client_id, created_at, expires_at, generation, scope,
                    resource, proof, key_thumbprint,
                    \(unsafeSQL: Self.base) AS base, \(unsafeSQL: Self.previous) AS previous,
                    \(unsafeSQL: Self.firstChild) AS first_child, \(unsafeSQL: Self.acknowledgedAt) AS acknowledged_at,
                    CASE
                        WHEN nonce <> \(token.nonce) OR client_id <> COALESCE(\(clientID), client_id)
                            OR (scope IS NULL) <> (\(clientID) IS NULL) THEN 'mismatched'
                        WHEN key_thumbprint IS NOT NULL AND key_thumbprint IS DISTINCT FROM \(key?.bytes)
                            THEN 'key_not_proven'
                        WHEN \(unsafeSQL: Self.isEnded) THEN 'revoked'
                        WHEN expires_at <= \(now) OR last_used_at <= \(idleStart) OR generation >= \(numberMax)
                            THEN 'expired'
                        WHEN \(number) > generation THEN 'ahead'
                        WHEN \(number) >= \(unsafeSQL: Self.firstChild) THEN 'rotated'
                        WHEN \(number) = \(unsafeSQL: Self.base) THEN CASE
                            WHEN generation < \(unsafeSQL: Self.firstChild) THEN 'rotated'
                            WHEN rotated_at > \(graceStart) THEN 'repeated'
                            ELSE 'sibling' END
                        WHEN \(number) >= \(unsafeSQL: Self.previous)
                            AND \(unsafeSQL: Self.acknowledgedAt) > \(graceStart) THEN 'joined'
                        WHEN \(unsafeSQL: Self.acknowledgedAt) > \(presentedAt) THEN 'late'
                        ELSE 'reused'
                    END AS verdict
                FROM sessions session WHERE session_id = \(token.sessionID.uuid)
                FOR UPDATE
            ), moved AS (
                UPDATE sessions session SET
                    previous = CASE WHEN \(number) = judged.base THEN judged.previous
                        WHEN judged.verdict = 'ahead' THEN \(number) - 1 ELSE judged.base END,
                    base = \(number),
                    first_child = CASE WHEN \(number) = judged.base THEN judged.first_child
                        ELSE GREATEST(judged.generation, \(number)) + 1 END,
                    acknowledged_at = CASE WHEN \(number) = judged.base THEN judged.acknowledged_at ELSE \(now) END,
                    generation = GREATEST(judged.generation, \(number)) + 1, rotated_at = \(now), last_used_at = \(now)
                FROM session judged
                WHERE session.session_id = judged.session_id AND judged.verdict IN ('rotated', 'ahead', 'sibling')
            ), used AS (
                UPDATE sessions session SET last_used_at = \(now) FROM session judged
                WHERE session.session_id = judged.session_id AND judged.verdict IN ('repeated', 'joined')
            ), ended AS (
                UPDATE sessions session SET revoked_at = \(now), revoke_reason = 'reuse', expires_at = \(now)
                FROM session judged WHERE session.session_id = judged.session_id AND judged.verdict = 'reused'
            )
            SELECT verdict, \(unsafeSQL: Self.personColumns),
                CASE verdict
                    WHEN 'repeated' THEN generation
                    WHEN 'joined' THEN base
                    ELSE GREATEST(generation, \(number)) + 1
                END
            FROM \(unsafeSQL: Self.personSource)
            """
    }
}
