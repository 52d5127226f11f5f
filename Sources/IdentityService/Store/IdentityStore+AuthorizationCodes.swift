import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels

/// The session of a browser that has signed in to our pages.
struct BrowserSession: Sendable, Hashable {
    let facts: SessionFacts
    /// When the user signed in, in Unix milliseconds.
    let signedInAtMilliseconds: Int64
    /// When it was used last, in Unix milliseconds; `SessionLimits.useRecordedSeconds` too early at most.
    let lastUsedAtMilliseconds: Int64
    /// When the browser's token expires, in Unix seconds.
    let expiresAtSeconds: Int64

    var sessionID: SessionID { facts.sessionID }
    var userID: UserID { facts.userID }
}

/// What an authorization code was issued for.
struct IssuedCode: Sendable, Hashable {
    let clientID: String
    let redirectURI: String
    let codeChallenge: String?
    /// The API of the access tokens, if not ours.
    let resource: String?
    /// The key that it is bound to (RFC 9449 section 10); nil for none.
    let key: JWKThumbprint?
    /// Whether it was redeemed before.
    let isRedeemed: Bool
}

extension IdentityStore {
    /// The most codes of one browser's session that are kept at a time.
    static let codesPerSessionMax = 100
    /// How long a code is kept after it expired, in seconds, so that a second use of it is recognised.
    static let codesKeptSeconds: Int64 = 600

    /// The live session of a browser's token; nil if it has ended.
    func browserSession(
        of claims: SingleClaims,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> BrowserSession? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.query(
            """
            SELECT user_id, provider, client_id, created_at, last_used_at, proof FROM sessions session
            WHERE session_id = \(claims.sessionID.uuid) AND user_id = \(claims.userID.uuid) AND nonce = \(claims.nonce)
                AND NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now) AND last_used_at > \(idleStart(now))
            """,
            deadline: deadline
        )
        guard let row = rows.first else { return nil }
        let (userID, providerName, clientID, createdAt, lastUsedAt) = try row.decode(
            PostgresUUID.self,
            String.self,
            String.self,
            PostgresTimestamp.self,
            PostgresTimestamp.self
        )
        guard let provider = ProviderName(providerName) else {
            throw PostgresError.decoding(CellDecodingError(column: 1, reason: "an unknown provider name"))
        }
        return BrowserSession(
            facts: SessionFacts(
                userID: UserID(userID),
                sessionID: claims.sessionID,
                provider: provider,
                clientID: clientID,
                signedInAtSeconds: createdAt.secondsSince1970,
                proof: try row.decode(5)
            ),
            signedInAtMilliseconds: createdAt.milliseconds,
            lastUsedAtMilliseconds: lastUsedAt.milliseconds,
            expiresAtSeconds: claims.expiresAtSeconds
        )
    }

    /// Stores a code, and that the browser's session was used.
    ///
    /// - Returns: whether it was stored: there is room for so many codes of a session only.
    func keep(
        _ code: AuthorizationCode,
        for request: AuthorizationRequest,
        of session: BrowserSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + AuthorizationCode.lifetimeSeconds * 1000)
        let rows = try await database.execute(
            """
            WITH used AS (
                UPDATE sessions SET last_used_at = \(now) WHERE session_id = \(session.sessionID.uuid) AND revoked_at IS NULL
            )
            INSERT INTO authorization_codes (
                code_hash, client_id, redirect_uri, code_challenge, nonce, scope, resource, browser_session_id, created_at,
                expires_at, key_thumbprint)
            SELECT \(code.hash), \(request.clientID), \(request.redirectURI), \(request.codeChallenge), \(request.nonce),
                \(request.scopes.text), \(request.resource), \(session.sessionID.uuid), \(now), \(end),
                \(request.key?.bytes)
            WHERE (SELECT count(*) FROM (
                SELECT FROM authorization_codes WHERE browser_session_id = \(session.sessionID.uuid)
                LIMIT \(Self.codesPerSessionMax)) kept) < \(Self.codesPerSessionMax)
            """,
            deadline: deadline
        )
        return rows.affected == 1
    }

    /// What a code was issued for; nil if it is unknown, or expired and not redeemed.
    func issued(
        _ code: AuthorizationCode,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> IssuedCode? {
        let rows = try await database.query(
            """
            SELECT client_id, redirect_uri, code_challenge, resource, redeemed_session_id IS NOT NULL, key_thumbprint
            FROM authorization_codes
            WHERE code_hash = \(code.hash)
                AND (redeemed_session_id IS NOT NULL OR expires_at > \(PostgresTimestamp(milliseconds: nowMilliseconds)))
            """,
            deadline: deadline
        )
        guard let row = rows.first else { return nil }
        let (clientID, redirectURI, challenge, resource, isRedeemed) = try row.decode(
            String.self,
            String.self,
            String?.self,
            String?.self,
            Bool.self
        )
        return IssuedCode(
            clientID: clientID,
            redirectURI: redirectURI,
            codeChallenge: challenge,
            resource: resource,
            key: try row.decode(5),
            isRedeemed: isRedeemed
        )
    }

    /// Redeems a code: opens a session for its client, as old as the browser's sign-in, so that acts that need a recent one see its age.
    ///
    /// It ends with the browser's at the latest: no refresh makes a sign-in last longer than a session may. What ends the browser's session
    /// at the same time either comes first, and the code opens nothing, or finds the new session too if it has waited for a lock. Locks are
    /// taken as by a sign-in: the identity, the account, then sessions.
    ///
    /// - Parameters:
    ///   - new: the ids and the nonce of the session; its user is the code's.
    ///   - isTold: whether the client is notified when the session ends.
    ///   - accessTokenSeconds: how long it lives if the client was not granted a refresh token.
    /// - Returns: the session and the request's nonce; nil if the code was redeemed meanwhile, has expired, or its browser's session ended.
    /// - Throws: `accountBlocked`; or what the database throws.
    func redeem(
        _ code: AuthorizationCode,
        new: NewSession,
        isTold: Bool,
        accessTokenSeconds: Int64,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> (session: StoredSession, nonce: String?)? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + limits.absoluteSeconds * 1000)
        let shortEnd = PostgresTimestamp(
            milliseconds: nowMilliseconds + min(accessTokenSeconds, limits.absoluteSeconds) * 1000
        )
        let rows: Rows
        do {
            rows = try await database.execute(
                """
                WITH code AS (
                    UPDATE authorization_codes SET redeemed_session_id = \(new.sessionID.uuid)
                    WHERE code_hash = \(code.hash) AND redeemed_session_id IS NULL AND expires_at > \(now)
                    RETURNING client_id, nonce, scope, resource, browser_session_id
                ), identity AS MATERIALIZED (
                    SELECT identity.user_id FROM code, sessions session, provider_identities identity
                    WHERE session_id = code.browser_session_id AND identity.user_id = session.user_id
                        AND identity.provider = session.provider
                    ORDER BY identity.provider, identity.subject
                    FOR SHARE OF identity
                ), account AS MATERIALIZED (
                    SELECT user_id FROM accounts WHERE user_id = (SELECT DISTINCT user_id FROM identity)
                    FOR NO KEY UPDATE
                ), browser AS MATERIALIZED (
                    SELECT session.user_id, session.provider, session.device_name, session.proof, session.created_at,
                        session.expires_at AS ends_at
                    FROM account, code, sessions session
                    WHERE session_id = code.browser_session_id AND session.user_id = account.user_id
                        AND NOT \(unsafeSQL: Self.isEnded) AND expires_at > \(now)
                    FOR SHARE OF session
                ), opened AS (
                    INSERT INTO sessions (
                        session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, created_at,
                        last_used_at, expires_at, scope, resource, browser_session_id, tells_client, key_thumbprint)
                    SELECT \(new.sessionID.uuid), user_id, provider, client_id, device_name, false, \(new.nonce), proof, created_at,
                        \(now), LEAST(ends_at, CASE WHEN \(OAuthScope.offlineAccess.rawValue) = ANY (string_to_array(scope, ' '))
                            THEN \(end) ELSE \(shortEnd) END), scope,
                        resource, code.browser_session_id, \(isTold), \(new.key?.bytes)
                    FROM browser, code
                    RETURNING expires_at
                )
                SELECT user_id, provider, client_id, created_at, scope, code.nonce,
                    (SELECT told_name FROM provider_identities identity
                        WHERE identity.user_id = browser.user_id AND told_name IS NOT NULL ORDER BY created_at LIMIT 1),
                    person.email, COALESCE(person.is_email_verified, false), COALESCE(person.is_private_email, false),
                    (SELECT expires_at FROM opened), code.resource, browser.proof,
                    end_excess_sessions(user_id, \(new.sessionID.uuid), \(sessionsKept), \(now), \(idleStart(now)))
                FROM code, browser LEFT JOIN LATERAL (
                    SELECT email, is_email_verified, is_private_email FROM provider_identities identity
                    WHERE identity.user_id = browser.user_id AND identity.provider = browser.provider
                    ORDER BY identity.created_at LIMIT 1
                ) person ON true
                """,
                deadline: deadline
            )
        } catch {
            throw Self.refusal(error)
        }
        guard let row = rows.first else { return nil }
        let (userID, providerName, clientID, createdAt, scope, nonce, toldName, email) = try row.decode(
            PostgresUUID.self,
            String.self,
            String.self,
            PostgresTimestamp.self,
            String.self,
            String?.self,
            String?.self,
            String?.self
        )
        guard let provider = ProviderName(providerName) else {
            throw PostgresError.decoding(CellDecodingError(column: 1, reason: "an unknown provider name"))
        }
        let session = StoredSession(
            facts: SessionFacts(
                userID: UserID(userID),
                sessionID: new.sessionID,
                provider: provider,
                clientID: clientID,
                signedInAtSeconds: createdAt.secondsSince1970,
                proof: try row.decode(12),
                key: new.key
            ),
            nonce: new.nonce,
            number: 0,
            toldName: toldName,
            endsAtSeconds: try row.decode(10, as: PostgresTimestamp.self).secondsSince1970,
            email: EmailFacts(address: email, isVerified: try row.decode(8), isPrivate: try row.decode(9)),
            scope: scope,
            resource: try row.decode(11)
        )
        return (session, nonce)
    }

    /// Ends the session that a code has opened (RFC 6749 section 4.1.2: its second use).
    ///
    /// - Returns: whether one was alive.
    func endSession(
        openedBy code: AuthorizationCode,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let rows = try await database.execute(
            """
            UPDATE sessions SET revoked_at = \(now), revoke_reason = 'reuse', expires_at = LEAST(expires_at, \(now))
            WHERE session_id = (SELECT redeemed_session_id FROM authorization_codes WHERE code_hash = \(code.hash))
                AND revoked_at IS NULL
            """,
            deadline: deadline
        )
        return rows.affected > 0
    }

    /// Deletes codes that expired long enough ago, at most `limit`, and returns their number.
    func forgetAuthorizationCodes(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.codesKeptSeconds * 1000)
        let rows = try await database.execute(
            """
            DELETE FROM authorization_codes WHERE code_hash IN (
                SELECT code_hash FROM authorization_codes WHERE expires_at <= \(before)
                ORDER BY expires_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}
