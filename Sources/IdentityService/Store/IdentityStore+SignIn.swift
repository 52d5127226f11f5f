import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

extension IdentityStore {
    /// Runs one statement and returns its rows.
    typealias Execute = @Sendable (Query) async throws -> Rows

    /// Opens a session for a verified sign-in, creating the account if the subject is new, or returns the session that the same token
    /// opened a moment ago.
    ///
    /// One statement writes everything, including the name that a provider sends only once, so nothing of it can be lost. Of concurrent
    /// calls with one token exactly one finds its fingerprint new; of concurrent first sign-ins of one subject exactly one inserts the
    /// identity, and the others get its account. The first proof of a person who was registered without one ends all that was opened
    /// without, by a trigger, which sees what was committed meanwhile. If the account has too many sessions, a function that the
    /// statement calls ends the least recently used ones, for one sign-in to an account after the other.
    ///
    /// - Parameter reservation: an address to reserve for the account in the same transaction; nil if there is none.
    /// - Throws: `IdentityError.token` with `.replayed`, or with `.expired` for a token that was issued before all sessions were ended,
    ///   or before its provider declared such tokens void; `providerAccountDisabled`, `accountBlocked`, `tokenStale`, `accountNotFound`,
    ///   `ticketInvalid` and `emailTaken`, which change nothing; or what the database throws.
    func openSession(
        _ signIn: SignIn,
        new: NewSession,
        phone: SignInPhone? = nil,
        reservation: EmailReservation? = nil,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        if signIn.transferSubject != nil {
            try await moveSubject(of: signIn, nowMilliseconds: nowMilliseconds, deadline: deadline)
        }
        var outcome: SignInOutcome
        do {
            if let reservation {
                outcome = try await database.withTransaction(
                    retries: Self.reservationRetriesMax,
                    deadline: deadline
                ) { transaction in
                    let execute: Execute = { try await transaction.execute($0) }
                    let outcome = try await openSession(
                        signIn,
                        new: new,
                        phone: phone,
                        nowMilliseconds: nowMilliseconds,
                        execute
                    )
                    let userID = outcome.session.facts.userID
                    try await reserve(reservation, for: userID, nowMilliseconds: nowMilliseconds, execute)
                    return outcome
                }
            } else {
                outcome = try await openSession(signIn, new: new, phone: phone, nowMilliseconds: nowMilliseconds) {
                    try await database.execute($0, deadline: deadline)
                }
            }
        } catch {
            throw Self.refusal(error)
        }
        outcome.session = try await numbered(outcome.session, deadline: deadline)
        return outcome
    }

    private func openSession(
        _ signIn: SignIn,
        new: NewSession,
        phone: SignInPhone?,
        nowMilliseconds: Int64,
        _ execute: Execute
    ) async throws -> SignInOutcome {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let statement = openSessionStatement(signIn, new: new, phone: phone, now: now)
        let rows: Rows
        do {
            rows = try await execute(statement)
        } catch let error as PostgresError where error.sqlState == .foreignKeyViolation && !signIn.createsAccount {
            // The account existed when the statement began, and the statement waited for its deletion: the identity would be new, and no
            // account was created for it.
            throw IdentityError.accountNotFound
        }
        guard let row = rows.first else {
            if phone != nil, try await isBeingOpened(signIn, execute) {
                throw IdentityError.link(.absorptionUnderWay)
            }
            return try await earlierSession(signIn, nowMilliseconds: nowMilliseconds, execute)
        }
        let (userID, toldName, email, isEmailVerified, isPrivateEmail, number, begunAt) = try row.decode(
            PostgresUUID.self,
            String?.self,
            String?.self,
            Bool.self,
            Bool.self,
            Int64?.self,
            PostgresTimestamp.self
        )
        let facts = SessionFacts(
            userID: UserID(userID),
            sessionID: new.sessionID,
            provider: signIn.provider,
            clientID: signIn.clientID,
            signedInAtSeconds: begunAt.secondsSince1970,
            proof: signIn.proof,
            key: new.key
        )
        let emailFacts = EmailFacts(address: email, isVerified: isEmailVerified, isPrivate: isPrivateEmail)
        var outcome = opened(
            facts,
            new,
            toldName: toldName,
            email: emailFacts,
            accountNumber: number,
            proof: signIn.proof,
            nowSeconds: nowMilliseconds / 1000
        )
        if let phone, try row.decode(Self.phoneNewsColumn, as: Bool.self) {
            outcome.phoneProof = PhoneProofEvent(
                eventID: phone.eventID,
                userID: facts.userID,
                phoneNumber: phone.phoneNumber,
                proof: "provider",
                isSignInProven: AccountAct.acceptedProofs.contains(signIn.proof),
                acceptedAtMilliseconds: nil
            )
        }
        return outcome
    }

    /// The extra column of a statement with a number: whether the number is news.
    private static let phoneNewsColumn = 8

    /// The error for a failed statement that opens a session: `end_excess_sessions` undoes it where the account is blocked.
    static func refusal(_ error: any Error) -> any Error {
        (error as? PostgresError)?.sqlState == accountIsBlocked ? IdentityError.signIn(.accountBlocked) : error
    }

    /// A code of our own: no class of PostgreSQL's begins with V.
    private static let accountIsBlocked = SQLState("VB001")

    /// How many sessions an account may keep beside a new one.
    var sessionsKept: Int32 { Int32(clamping: limits.sessionsMax - 1) }

    /// Sessions that were last used at this time or before have ended.
    func idleStart(_ now: PostgresTimestamp) -> PostgresTimestamp {
        PostgresTimestamp(microsecondsSince1970: now.microsecondsSince1970 - limits.inactivitySeconds * 1_000_000)
    }

    /// The outcome of a statement that opened a session.
    func opened(
        _ facts: SessionFacts,
        _ new: NewSession,
        toldName: String?,
        email: EmailFacts?,
        accountNumber: Int64?,
        proof: Proof,
        nowSeconds: Int64
    ) -> SignInOutcome {
        let session = StoredSession(
            facts: facts,
            nonce: new.nonce,
            number: 0,
            toldName: toldName,
            endsAtSeconds: nowSeconds + limits.absoluteSeconds,
            accountNumber: accountNumber,
            email: email
        )
        return SignInOutcome(session: session, isNewUser: facts.userID == new.userID, proof: proof)
    }

    private func openSessionStatement(
        _ signIn: SignIn,
        new: NewSession,
        phone: SignInPhone?,
        now: PostgresTimestamp
    ) -> Query {
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
                    AND NOT EXISTS (
                        SELECT FROM provider_identities
                        WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)
                            AND (disabled_at IS NOT NULL OR tokens_from > \(issuedAt)))\(unless: signIn, isOpeningAnAccountBy: phone)
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
                    is_email_unreachable = known.is_email_unreachable
                        AND (\(unsafeSQL: keepsEmail) OR known.email IS NOT DISTINCT FROM EXCLUDED.email),
                    told_name = CASE WHEN known.unproven_dialect IS NULL
                        THEN COALESCE(EXCLUDED.told_name, known.told_name) ELSE EXCLUDED.told_name END,
                    real_user_status = COALESCE(EXCLUDED.real_user_status, known.real_user_status),
                    last_sign_in_at = EXCLUDED.last_sign_in_at,
                    unproven_dialect = NULL
                -- Once more, of the row as a notice has left it that was applied meanwhile.
                WHERE known.disabled_at IS NULL AND (known.tokens_from > \(issuedAt)) IS NOT TRUE
                RETURNING user_id, told_name, email, is_email_verified, is_private_email
            ), account AS (
                INSERT INTO accounts (user_id, created_at)
                SELECT user_id, \(now) FROM identity WHERE user_id = \(new.userID.uuid) AND \(signIn.createsAccount)
                RETURNING number
            ), session AS (
                INSERT INTO sessions (
                    session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, created_at,
                    last_used_at, expires_at, passkey_id, key_thumbprint)
                SELECT claimed.session_id, identity.user_id, \(signIn.provider.value), \(signIn.clientID),
                    \(signIn.deviceName), identity.user_id = \(new.userID.uuid), \(new.nonce),
                    \(signIn.proof.rawValue), begun_at, \(now), \(sessionExpiry), \(signIn.passkeyID?.uuid), \(new.key?.bytes)
                FROM claimed, identity, epoch
            )\(told: phone, by: signIn, at: now)
            SELECT user_id, told_name, email, is_email_verified, is_private_email,
                COALESCE((SELECT number FROM account),
                    (SELECT number FROM accounts WHERE accounts.user_id = identity.user_id)),
                (SELECT begun_at FROM epoch),
                CASE WHEN user_id <> \(new.userID.uuid) THEN
                    end_excess_sessions(user_id, \(new.sessionID.uuid), \(sessionsKept), \(now), \(idleStart(now))) END
                \(unsafeSQL: phone == nil ? "" : ", EXISTS (SELECT FROM phone_news)")
            FROM identity
            """
    }

    /// The sign-in brings no new e-mail, or only the app sent it and a token brought the known one. An unproven address isn't kept for a
    /// proven person.
    private static let keepsEmail =
        "(known.unproven_dialect IS NULL AND (EXCLUDED.email IS NULL"
        + " OR EXCLUDED.is_email_told AND known.email IS NOT NULL AND NOT known.is_email_told))"
}

extension Query.StringInterpolation {
    /// The condition of a sign-in with a number: its account isn't being absorbed into an older one that the number opens. Nothing is
    /// used up then.
    fileprivate mutating func appendInterpolation(unless signIn: SignIn, isOpeningAnAccountBy phone: SignInPhone?) {
        guard phone != nil else { return }
        appendLiteral(" AND NOT EXISTS (\(IdentityStore.identityOnTheWay) AND own.provider = ")
        appendInterpolation(signIn.provider.value)
        appendLiteral(" AND own.subject = ")
        appendInterpolation(signIn.subject)
        appendLiteral(")")
    }

    /// The part of a sign-in that records a proven number for profile, unless the provider sent the same one for the person before: they
    /// may have chosen another one since. A number that isn't accepted is sent again after a day, since the policy may be another by
    /// then. Sign-ins without a number use a statement of their own, without this part.
    fileprivate mutating func appendInterpolation(
        told phone: SignInPhone?,
        by signIn: SignIn,
        at now: PostgresTimestamp
    ) {
        guard let phone, let hash = phone.hashes.first else { return }
        appendLiteral(
            ", phone_told AS (INSERT INTO told_phones AS before (provider, subject, phone_hash, event_id, told_at) SELECT "
        )
        appendInterpolation(signIn.provider.value)
        appendLiteral(", ")
        appendInterpolation(signIn.subject)
        appendLiteral(", ")
        appendInterpolation(hash)
        appendLiteral(", ")
        appendInterpolation(phone.eventID.uuid)
        appendLiteral(", ")
        appendInterpolation(now)
        appendLiteral(
            """
             FROM identity
            ON CONFLICT (provider, subject) DO UPDATE SET phone_hash = EXCLUDED.phone_hash, told_at = EXCLUDED.told_at,
                event_id = EXCLUDED.event_id,
                before_hash = CASE WHEN before.event_id IS NOT NULL THEN before.before_hash
                    -- Not taken: what was before it stands.
                    WHEN before.before_hash IS NOT NULL THEN NULLIF(before.before_hash, before.phone_hash)
                    ELSE before.phone_hash END
            WHERE CASE WHEN before.event_id IS NOT NULL OR before.before_hash IS NULL THEN before.phone_hash <> ALL(
            """
        )
        appendInterpolation(phone.hashes)
        appendLiteral(") WHEN before.phone_hash = ANY(")
        appendInterpolation(phone.hashes)
        appendLiteral(") THEN before.told_at <= ")
        appendInterpolation(PostgresTimestamp(milliseconds: now.milliseconds - IdentityStore.refusedPhoneMilliseconds))
        appendLiteral(" ELSE before.before_hash <> ALL(")
        appendInterpolation(phone.hashes)
        appendLiteral(
            """
            ) END RETURNING provider
            ), phone_news AS (
                INSERT INTO work (queue, key, user_id, event_id, trace, created_at, data)
                SELECT '\(PhoneProofWork.queue)', user_id::text, user_id, 
            """
        )
        appendInterpolation(phone.eventID.uuid)
        appendLiteral(", ")
        appendInterpolation(Traces.current)
        appendLiteral(", ")
        appendInterpolation(now)
        appendLiteral(", jsonb_build_object('proof', 'provider', 'phone', ")
        appendInterpolation(phone.phoneNumber)
        appendLiteral(", 'is_sign_in_proven', ")
        appendInterpolation(AccountAct.acceptedProofs.contains(signIn.proof))
        appendLiteral(") FROM identity, phone_told RETURNING event_id)")
    }
}
