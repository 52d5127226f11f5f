import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// What a sign-in came to.
struct SignInOutcome: Sendable, Hashable {
    let session: StoredSession
    let isNewUser: Bool
}

extension IdentityStore {
    /// Opens a session for a verified sign-in, making the account if the subject is new, or returns the session that
    /// the same token bought a moment ago.
    ///
    /// One statement writes everything, the name that is told once included, so nothing of it can be lost. Of
    /// concurrent calls with one token exactly one finds its fingerprint new; of concurrent first sign-ins of one
    /// subject exactly one inserts the identity, and the others get its account.
    ///
    /// - Throws: `IdentityFault.token` with `.replayed`, or with `.expired` for a token that was issued before all sessions
    ///   were ended; or what the database throws.
    func openSession(
        _ signIn: SignIn,
        new: NewSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        let statement = openSessionStatement(signIn, new: new, now: PostgresTimestamp(milliseconds: nowMilliseconds))
        if let row = try await database.execute(statement, deadline: deadline).first {
            let (userID, toldName) = try row.decode(PostgresUUID.self, String?.self)
            let facts = SessionFacts(
                userID: UserID(userID),
                sessionID: new.sessionID,
                provider: signIn.provider,
                clientID: signIn.clientID,
                signedInAtSeconds: nowMilliseconds / 1000
            )
            let session = StoredSession(
                facts: facts,
                nonce: new.nonce,
                generation: 0,
                toldName: toldName,
                endsAtSeconds: nowMilliseconds / 1000 + limits.absoluteSeconds,
                accountNumber: nil
            )
            return SignInOutcome(session: session, isNewUser: facts.userID == new.userID)
        }
        return try await earlierSession(signIn, nowMilliseconds: nowMilliseconds, deadline: deadline)
    }

    private func openSessionStatement(_ signIn: SignIn, new: NewSession, now: PostgresTimestamp) -> Query {
        let issuedAt = PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds)
        let tokenExpiry = PostgresTimestamp(secondsSince1970: signIn.acceptedUntilSeconds)
        let sessionExpiry = PostgresTimestamp(
            microsecondsSince1970: now.microsecondsSince1970 + limits.absoluteSeconds * 1_000_000
        )
        let keepsEmail = Self.keepsEmail
        // A session that is begun now is begun after the end of all sessions, whatever this machine's clock says. LIMIT tells
        // the planner that there is one epoch: for the product of all rows that a table may have it would compile the plan,
        // which takes longer than a hundred sign-ins.
        return """
            WITH epoch AS (
                SELECT GREATEST(\(now), sessions_from) AS begun_at FROM session_epoch
                WHERE sessions_from <= \(issuedAt) LIMIT 1
            ), claimed AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(signIn.fingerprint), \(new.sessionID.uuid), \(now), \(tokenExpiry) FROM epoch
                ON CONFLICT (fingerprint) DO NOTHING
                RETURNING session_id
            ), identity AS (
                INSERT INTO provider_identities AS known (
                    provider, subject, user_id, email, is_email_told, is_email_verified, is_private_email, told_name,
                    real_user_status, created_at, last_sign_in_at)
                SELECT \(signIn.provider.value), \(signIn.subject), \(new.userID.uuid), \(signIn.email),
                    \(signIn.isEmailTold), \(signIn.isEmailVerified), \(signIn.isPrivateEmail), \(signIn.toldName),
                    \(signIn.realUserStatus), \(now), \(now)
                FROM claimed
                ON CONFLICT (provider, subject) DO UPDATE SET
                    email = CASE WHEN \(unsafeSQL: keepsEmail) THEN known.email ELSE EXCLUDED.email END,
                    is_email_told = CASE WHEN \(unsafeSQL: keepsEmail)
                        THEN known.is_email_told ELSE EXCLUDED.is_email_told END,
                    is_email_verified = CASE WHEN \(unsafeSQL: keepsEmail)
                        THEN known.is_email_verified ELSE EXCLUDED.is_email_verified END,
                    is_private_email = CASE WHEN \(unsafeSQL: keepsEmail)
                        THEN known.is_private_email ELSE EXCLUDED.is_private_email END,
                    told_name = COALESCE(EXCLUDED.told_name, known.told_name),
                    real_user_status = COALESCE(EXCLUDED.real_user_status, known.real_user_status),
                    last_sign_in_at = EXCLUDED.last_sign_in_at
                RETURNING user_id, told_name
            ), account AS (
                INSERT INTO accounts (user_id, created_at)
                SELECT user_id, \(now) FROM identity WHERE user_id = \(new.userID.uuid)
            ), session AS (
                INSERT INTO sessions (
                    session_id, user_id, provider, client_id, device_name, opened_account, nonce, created_at,
                    last_used_at, expires_at)
                SELECT claimed.session_id, identity.user_id, \(signIn.provider.value), \(signIn.clientID),
                    \(signIn.deviceName), identity.user_id = \(new.userID.uuid), \(new.nonce), begun_at, \(now),
                    \(sessionExpiry)
                FROM claimed, identity, epoch
            )
            SELECT user_id, told_name FROM identity
            """
    }

    /// Nothing is told that is new, or only the app tells it and a token told the one that is known.
    private static let keepsEmail =
        "(EXCLUDED.email IS NULL OR EXCLUDED.is_email_told AND known.email IS NOT NULL AND NOT known.is_email_told)"

    /// Whether the token was issued before all sessions were ended: then it may have bought one of them, and the row that said
    /// so may be lost.
    private func isFromBeforeEpoch(_ signIn: SignIn, deadline: Deadline?) async throws(PostgresError) -> Bool {
        let issuedAt = PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds)
        let rows = try await database.query(
            "SELECT 1 FROM session_epoch WHERE sessions_from > \(issuedAt)",
            deadline: deadline
        )
        return !rows.isEmpty
    }

    /// The session that the token bought before. Read after the insert found the fingerprint taken, so the row that
    /// took it is committed.
    private func earlierSession(
        _ signIn: SignIn,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        let rows = try await database.query(
            """
            SELECT taken.created_at, session.generation, \(unsafeSQL: Self.isEnded), session.opened_account,
                session.user_id, session.session_id, session.client_id, session.created_at, session.expires_at, session.nonce,
                identity.told_name
            FROM sign_ins taken
            JOIN sessions session ON session.session_id = taken.session_id
            LEFT JOIN provider_identities identity
                ON identity.provider = \(signIn.provider.value) AND identity.subject = \(signIn.subject)
            WHERE taken.fingerprint = \(signIn.fingerprint)
            """,
            deadline: deadline
        )
        guard let row = rows.first else {
            throw IdentityFault.token(try await isFromBeforeEpoch(signIn, deadline: deadline) ? .expired : .replayed)
        }
        let (
            takenAt, generation, isRevoked, openedAccount, userID, sessionID, clientID, createdAt, endsAt, nonce,
            toldName
        ) =
            try row.decode(
                PostgresTimestamp.self,
                Int64.self,
                Bool.self,
                Bool.self,
                PostgresUUID.self,
                PostgresUUID.self,
                String.self,
                PostgresTimestamp.self,
                PostgresTimestamp.self,
                [UInt8].self,
                String?.self
            )
        let earlier = EarlierSignIn(
            atMilliseconds: takenAt.milliseconds,
            generation: UInt32(clamping: generation),
            isRevoked: isRevoked
        )
        guard earlier.isRetry(nowMilliseconds: nowMilliseconds, limits: limits) else {
            throw IdentityFault.token(.replayed)
        }
        let facts = SessionFacts(
            userID: UserID(userID),
            sessionID: SessionID(sessionID),
            provider: signIn.provider,
            clientID: clientID,
            signedInAtSeconds: createdAt.secondsSince1970
        )
        let session = StoredSession(
            facts: facts,
            nonce: nonce,
            generation: earlier.generation,
            toldName: toldName,
            endsAtSeconds: endsAt.secondsSince1970,
            accountNumber: nil
        )
        return SignInOutcome(session: session, isNewUser: openedAccount)
    }
}
