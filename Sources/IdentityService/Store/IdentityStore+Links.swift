import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels

/// The session that requests a change of an account's providers.
struct LinkingSession: Sendable, Hashable {
    let userID: UserID
    let sessionID: SessionID
}

extension IdentityStore {
    /// How often a change of providers is retried after PostgreSQL broke a deadlock.
    static let linkRetriesMax = 3
    /// How often a link is restarted because a user signed in with the identity for the first time at that moment.
    static let linkTriesMax = 3

    /// Links the identity of verified credentials to an account, and uses the credentials up. The identity then opens the account.
    ///
    /// Locks are taken in the order of a sign-in: the credentials' fingerprints, identities in the order of their names, the account. All
    /// that a link depends on is judged under the locks, so of callers that want one identity, or link one provider to an account, at the
    /// same moment one succeeds.
    ///
    /// - Parameter opensSession: whether the credentials are to open a session afterwards. They open none if they were used up by
    ///   anything but linking to this account.
    /// - Returns: whether the link is new; false if the account had it before, and then nothing was done.
    /// - Throws: `IdentityError` with `link`, or with what a sign-in by the credentials would be refused for, or with
    ///   `sessionInvalid` or `sessionRevoked` of the session, or with `signInInsufficient` or `proofRequired`, and nothing is
    ///   done; or what the database throws.
    func link(
        _ signIn: SignIn,
        to session: LinkingSession,
        opensSession: Bool,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Bool {
        guard AccountAct.acceptedProofs.contains(signIn.proof) else { throw IdentityError.proofRequired }
        for _ in 1...Self.linkTriesMax {
            do {
                return try await database.withTransaction(
                    retries: Self.linkRetriesMax,
                    deadline: deadline
                ) { transaction in
                    try await link(
                        signIn,
                        to: session,
                        opensSession: opensSession,
                        PostgresTimestamp(milliseconds: nowMilliseconds),
                        in: transaction
                    )
                }
            } catch is IdentityAppeared {
                continue
            }
        }
        throw PostgresError.unavailable("the identity was signed in with for the first time again and again")
    }

    /// Returns whether tickets that no longer exist have linked an identity to an account, and it is still linked.
    func haveLinked(
        tickets fingerprint: [UInt8],
        _ provider: ProviderName,
        to userID: UserID,
        deadline: Deadline?
    ) async throws(PostgresError) -> Bool {
        try await !database.query(
            """
            SELECT FROM sign_ins, provider_identities
            WHERE fingerprint = \(fingerprint) AND session_id = \(Self.mark(of: userID, fingerprint))
                AND user_id = \(userID.uuid) AND provider = \(provider.value)
            """,
            deadline: deadline
        ).isEmpty
    }

    // MARK: - Steps

    /// The identity wasn't there when it was looked for, and is now.
    struct IdentityAppeared: Error {}

    private func link(
        _ signIn: SignIn,
        to session: LinkingSession,
        opensSession: Bool,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let told = try await claim(signIn, for: session.userID, now, in: transaction)
        let identities = try await lockIdentities(of: [session.userID], and: signIn, in: transaction)
        let openedBy = try await check(session, for: .linkProvider, now, in: transaction)
        // A guest's other sessions must end: ``linkGuest(_:to:new:nowMilliseconds:deadline:)`` links to those.
        guard openedBy != ProviderName.guest.value else { throw IdentityError.guest(.notAllowed) }
        let own = identities.filter { $0.userID == session.userID }
        let wanted = identities.first { $0.provider == signIn.provider.value && $0.subject == signIn.subject }
        if let wanted, wanted.userID == session.userID, !wanted.isUnproven {
            // Credentials that linked may have to be presented again, since the response was lost. Others that are used up prove nothing
            // now.
            if opensSession, told == nil, try await !haveLinked(signIn, to: session.userID, in: transaction) {
                throw try await refusal(of: signIn) { try await transaction.execute($0) }
            }
            return false
        }
        // Credentials that the same absorption has taken are recognised by that.
        if told == nil, let wanted, wanted.userID != session.userID { throw IdentityError.link(.identityTaken) }
        guard let told else { throw try await refusal(of: signIn) { try await transaction.execute($0) } }
        if let wanted {
            if wanted.isDisabled { throw IdentityError.signIn(.providerAccountDisabled) }
            if wanted.tokensFrom.map({ $0 > PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds) }) == true {
                throw IdentityError.token(.expired)
            }
        }
        guard !own.contains(where: { $0.provider == signIn.provider.value && $0.subject != signIn.subject }) else {
            throw IdentityError.link(.providerAlreadyLinked)
        }
        if let wanted, wanted.userID != session.userID { throw IdentityError.link(.identityTaken) }
        try await checkNotAbsorbing([session.userID], in: transaction)
        try await insert(signIn, told, for: session, now, in: transaction)
        return true
    }

    /// Details that came with credentials before they could be verified.
    struct Told {
        let email: String?
        let fullName: String?
    }

    /// Uses credentials up, as the statement that opens a session does; nil if they are used up, or may not be used now.
    ///
    /// Unless the link opens one, the session's id is replaced by a mark that names no session: no client gets tokens by it, and it is
    /// recognised when the same account sends the request once more.
    func claim(
        _ signIn: SignIn,
        for userID: UserID,
        opening session: SessionID? = nil,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Told? {
        let issuedAt = PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds)
        let tokenExpiry = PostgresTimestamp(secondsSince1970: signIn.acceptedUntilSeconds)
        let mark = session?.uuid ?? Self.mark(of: userID, signIn.fingerprint)
        let retryMark = signIn.retryFingerprint.map { session?.uuid ?? Self.mark(of: userID, $0) }
        let rows = try await transaction.execute(
            """
            WITH epoch AS (
                SELECT FROM session_epoch WHERE sessions_from <= \(issuedAt) AND \(signIn.mayBeFirst) LIMIT 1
            ), ticket AS (
                DELETE FROM web_tickets WHERE ticket_hash = \(signIn.ticketHash) AND EXISTS (SELECT FROM epoch)
                RETURNING ticket_hash
            ), claimed AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(signIn.fingerprint), \(mark), \(now), \(tokenExpiry) FROM epoch
                WHERE \(signIn.ticketHash) IS NULL OR EXISTS (SELECT FROM ticket)
                ON CONFLICT (fingerprint) DO NOTHING
                RETURNING session_id
            ), claimed_too AS (
                INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                SELECT \(signIn.retryFingerprint), \(retryMark), \(now), \(tokenExpiry) FROM claimed
                WHERE \(signIn.retryFingerprint) IS NOT NULL
                ON CONFLICT (fingerprint) DO NOTHING
            ), told AS (
                DELETE FROM told_once WHERE fingerprint = ANY (\(signIn.toldOnceKeys)) AND EXISTS (SELECT FROM claimed)
                RETURNING full_name, email, expires_at > \(now) AS is_kept
            )
            SELECT (SELECT email FROM told WHERE is_kept AND email IS NOT NULL LIMIT 1),
                (SELECT full_name FROM told WHERE is_kept AND full_name IS NOT NULL LIMIT 1)
            FROM claimed
            """
        )
        guard let (email, fullName) = try rows.first?.decode(String?.self, String?.self) else { return nil }
        return Told(email: email, fullName: fullName)
    }

    /// Returns whether credentials were used up by linking to an account.
    private func haveLinked(
        _ signIn: SignIn,
        to userID: UserID,
        in transaction: PostgresTransaction
    ) async throws(PostgresError) -> Bool {
        try await !transaction.query(
            """
            SELECT FROM sign_ins
            WHERE fingerprint = \(signIn.fingerprint) AND session_id = \(Self.mark(of: userID, signIn.fingerprint))
            """
        ).isEmpty
    }

    /// Throws unless the account exists, the session is live, and its sign-in allows the act. Locks the account against all changes of
    /// what it consists of, but not against calls that only begin or use a session.
    ///
    /// - Returns: the provider that opened the session.
    func check(
        _ session: LinkingSession,
        for act: AccountAct,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> String {
        try await transaction.query(
            "SELECT FROM accounts WHERE user_id = \(session.userID.uuid) FOR NO KEY UPDATE"
        )
        // An account that was deleted meanwhile has no session. A statement of its own, to see the changes that were waited for.
        let row = try await transaction.query(
            """
            SELECT \(unsafeSQL: Self.isEnded), expires_at <= \(now), proof, created_at, provider FROM sessions session
            WHERE session_id = \(session.sessionID.uuid) AND user_id = \(session.userID.uuid)
            """
        ).first
        guard let row else { throw IdentityError.sessionInvalid }
        let (isEnded, isExpired, proof, begunAt, provider) = try row.decode(
            Bool.self,
            Bool.self,
            Proof.self,
            PostgresTimestamp.self,
            String.self
        )
        if isEnded { throw IdentityError.sessionRevoked }
        if isExpired { throw IdentityError.sessionExpired }
        let refusal = act.refusal(
            proof: proof,
            signedInMilliseconds: begunAt.milliseconds,
            nowMilliseconds: now.milliseconds,
            recentSeconds: limits.deletionSignInSeconds
        )
        if let refusal { throw IdentityError(refusal, recentSeconds: limits.deletionSignInSeconds) }
        return provider
    }

    /// The refusal of a session by its age, or of one that there is nothing left to judge by.
    var signInTooOld: IdentityError { .signInInsufficient(.tooOld, maxAgeSeconds: limits.deletionSignInSeconds) }

    /// Adds the identity to the account. An identity that the account's user registered without proof is proven by it, and the details of
    /// it from before are not kept.
    func insert(
        _ signIn: SignIn,
        _ told: Told,
        for session: LinkingSession,
        isGuest: Bool = false,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let user = session.userID.uuid
        let rows = try await transaction.execute(
            """
            WITH identity AS (
                INSERT INTO provider_identities AS known (
                    provider, subject, user_id, email, is_email_told, is_email_verified, is_private_email, told_name,
                    real_user_status, created_at, last_sign_in_at)
                VALUES (\(signIn.provider.value), \(signIn.subject), \(user), \(signIn.email ?? told.email),
                    \(signIn.isEmailTold || signIn.email == nil), \(signIn.isEmailVerified), \(signIn.isPrivateEmail),
                    \(signIn.fullName ?? told.fullName ?? signIn.tokenName), \(signIn.realUserStatus), \(now), \(now))
                ON CONFLICT (provider, subject) DO UPDATE SET email = EXCLUDED.email, is_email_told = EXCLUDED.is_email_told,
                    is_email_verified = EXCLUDED.is_email_verified, is_private_email = EXCLUDED.is_private_email,
                    told_name = EXCLUDED.told_name, last_sign_in_at = EXCLUDED.last_sign_in_at, unproven_dialect = NULL
                WHERE known.user_id = EXCLUDED.user_id AND known.unproven_dialect IS NOT NULL
                RETURNING user_id
            )
            INSERT INTO security_events (event_id, user_id, session_id, kind, occurred_at, details)
            SELECT security_event_id(\(now), false), user_id, \(session.sessionID.uuid),
                \(SecurityEvent.providerLinked.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object('provider', \(signIn.provider.value), 'client_id', \(signIn.clientID),
                    'proof', \(signIn.proof.rawValue), 'was_guest', NULLIF(\(isGuest), false)))
            FROM identity
            """
        )
        if rows.affected == 0 { throw IdentityAppeared() }
    }

    /// The mark in place of a session's id for credentials that linked. No session has it.
    static func mark(of userID: UserID, _ fingerprint: [UInt8]) -> PostgresUUID {
        let hash = SHA256.hash(Array("vestibule link 1\0".utf8) + userID.bytes + fingerprint)
        // 128 bits of a hash: never nil.
        return PostgresUUID(bytes: Array(hash.prefix(16))) ?? PostgresUUID(high: 0, low: 0)
    }
}
