import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// What a sign-in came to.
struct SignInOutcome: Sendable, Hashable {
    var session: StoredSession
    let isNewUser: Bool
    /// How the session was proven; nil for one from before proofs were recorded.
    let proof: Proof?
}

extension IdentityStore {
    /// Runs one statement and returns its rows.
    typealias Execute = @Sendable (Query) async throws -> Rows

    /// Opens a session for a verified sign-in, making the account if the subject is new, or returns the session that
    /// the same token bought a moment ago.
    ///
    /// One statement writes everything, the name that is told once included, so nothing of it can be lost. Of
    /// concurrent calls with one token exactly one finds its fingerprint new; of concurrent first sign-ins of one
    /// subject exactly one inserts the identity, and the others get its account. The first proof of a person who was
    /// registered without one ends all that was opened without, by a trigger, which sees what was committed meanwhile.
    ///
    /// - Parameter reservation: an address to reserve for the account in the same transaction; nil if there is none.
    /// - Throws: `IdentityFault.token` with `.replayed`, or with `.expired` for a token that was issued before all sessions
    ///   were ended; `tokenStale`, `accountNotFound`, `ticketInvalid` and `emailTaken`, which change nothing; or what the
    ///   database throws.
    func openSession(
        _ signIn: SignIn,
        new: NewSession,
        reservation: EmailReservation? = nil,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        var outcome: SignInOutcome
        if let reservation {
            outcome = try await database.withTransaction(deadline: deadline) { transaction in
                let execute: Execute = { try await transaction.execute($0) }
                let outcome = try await openSession(signIn, new: new, nowMilliseconds: nowMilliseconds, execute)
                let userID = outcome.session.facts.userID
                try await reserve(reservation, for: userID, nowMilliseconds: nowMilliseconds, execute)
                return outcome
            }
        } else {
            outcome = try await openSession(signIn, new: new, nowMilliseconds: nowMilliseconds) {
                try await database.execute($0, deadline: deadline)
            }
        }
        // After the transaction: an account's row that is numbered waits for all who open sessions of it.
        outcome.session = try await numbered(outcome.session, deadline: deadline)
        return outcome
    }

    private func openSession(
        _ signIn: SignIn,
        new: NewSession,
        nowMilliseconds: Int64,
        _ execute: Execute
    ) async throws -> SignInOutcome {
        let statement = openSessionStatement(signIn, new: new, now: PostgresTimestamp(milliseconds: nowMilliseconds))
        guard let row = try await execute(statement).first else {
            return try await earlierSession(signIn, nowMilliseconds: nowMilliseconds, execute)
        }
        let (userID, toldName, email, isEmailVerified, isPrivateEmail, number) = try row.decode(
            PostgresUUID.self,
            String?.self,
            String?.self,
            Bool.self,
            Bool.self,
            Int64?.self
        )
        let facts = SessionFacts(
            userID: UserID(userID),
            sessionID: new.sessionID,
            provider: signIn.provider,
            clientID: signIn.clientID,
            signedInAtSeconds: nowMilliseconds / 1000
        )
        let emailFacts = EmailFacts(address: email, isVerified: isEmailVerified, isPrivate: isPrivateEmail)
        return opened(facts, new, toldName: toldName, email: emailFacts, accountNumber: number, proof: signIn.proof)
    }

    /// The outcome of a statement that opened a session.
    func opened(
        _ facts: SessionFacts,
        _ new: NewSession,
        toldName: String?,
        email: EmailFacts?,
        accountNumber: Int64?,
        proof: Proof
    ) -> SignInOutcome {
        let session = StoredSession(
            facts: facts,
            nonce: new.nonce,
            generation: 0,
            toldName: toldName,
            endsAtSeconds: facts.signedInAtSeconds + limits.absoluteSeconds,
            accountNumber: accountNumber,
            email: email
        )
        return SignInOutcome(session: session, isNewUser: facts.userID == new.userID, proof: proof)
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
                WHERE sessions_from <= \(issuedAt) AND \(signIn.mayBeFirst) AND (\(signIn.createsAccount) OR EXISTS (
                    SELECT FROM provider_identities
                    WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)))
                LIMIT 1
            ), ticket AS (
                DELETE FROM web_tickets WHERE ticket_hash = \(signIn.ticketHash) AND EXISTS (SELECT FROM epoch)
                RETURNING ticket_hash
            ), claimed AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(signIn.fingerprint), \(new.sessionID.uuid), \(now), \(tokenExpiry) FROM epoch
                WHERE \(signIn.ticketHash) IS NULL OR EXISTS (SELECT FROM ticket)
                ON CONFLICT (fingerprint) DO NOTHING
                RETURNING session_id
            ), claimed_too AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(signIn.retryFingerprint), session_id, \(now), \(tokenExpiry) FROM claimed
                WHERE \(signIn.retryFingerprint) IS NOT NULL
                ON CONFLICT (fingerprint) DO NOTHING
            ), told AS (
                DELETE FROM told_once WHERE fingerprint = ANY (\(signIn.toldOnceKeys)) AND EXISTS (SELECT FROM claimed)
                RETURNING full_name, email, expires_at > \(now) AS is_kept
            ), identity AS (
                INSERT INTO provider_identities AS known (
                    provider, subject, user_id, email, is_email_told, is_email_verified, is_private_email, told_name,
                    real_user_status, created_at, last_sign_in_at)
                SELECT \(signIn.provider.value), \(signIn.subject), \(new.userID.uuid),
                    COALESCE(\(signIn.email), (SELECT email FROM told WHERE is_kept AND email IS NOT NULL LIMIT 1)),
                    \(signIn.isEmailTold) OR \(signIn.email) IS NULL, \(signIn.isEmailVerified),
                    \(signIn.isPrivateEmail),
                    COALESCE(\(signIn.fullName),
                        (SELECT full_name FROM told WHERE is_kept AND full_name IS NOT NULL LIMIT 1),
                        \(signIn.tokenName)),
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
                    told_name = CASE WHEN known.unproven_dialect IS NULL
                        THEN COALESCE(EXCLUDED.told_name, known.told_name) ELSE EXCLUDED.told_name END,
                    real_user_status = COALESCE(EXCLUDED.real_user_status, known.real_user_status),
                    last_sign_in_at = EXCLUDED.last_sign_in_at,
                    unproven_dialect = NULL
                RETURNING user_id, told_name, email, is_email_verified, is_private_email
            ), account AS (
                INSERT INTO accounts (user_id, created_at)
                SELECT user_id, \(now) FROM identity WHERE user_id = \(new.userID.uuid)
                RETURNING number
            ), session AS (
                INSERT INTO sessions (
                    session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, created_at,
                    last_used_at, expires_at)
                SELECT claimed.session_id, identity.user_id, \(signIn.provider.value), \(signIn.clientID),
                    \(signIn.deviceName), identity.user_id = \(new.userID.uuid), \(new.nonce),
                    \(signIn.proof.rawValue), begun_at, \(now), \(sessionExpiry)
                FROM claimed, identity, epoch
            )
            SELECT user_id, told_name, email, is_email_verified, is_private_email,
                COALESCE((SELECT number FROM account),
                    (SELECT number FROM accounts WHERE accounts.user_id = identity.user_id))
            FROM identity
            """
    }

    /// Nothing is told that is new, or only the app tells it and a token told the one that is known. What nobody proved isn't
    /// kept for whom it is proven.
    private static let keepsEmail =
        "(known.unproven_dialect IS NULL AND (EXCLUDED.email IS NULL"
        + " OR EXCLUDED.is_email_told AND known.email IS NOT NULL AND NOT known.is_email_told))"
}
