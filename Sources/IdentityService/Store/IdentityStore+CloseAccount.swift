import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels

/// The grounds for closing an account.
enum ClosingGround: Sendable, Hashable {
    /// A provider or a service closes it: nothing is checked.
    case others
    /// An operator closes it, whose name in the certificate is recorded; nil where callers have none.
    case operatorNamed(String?)
    /// Its owner deletes it, by a session.
    case session(DeletingSession)
    /// Its owner had its deletion scheduled, and it is due.
    case schedule
    /// It is a guest's, and was not used since a time, in Unix milliseconds.
    case unusedGuest(sinceMilliseconds: Int64)
}

/// The proof that a user may delete their account.
struct DeletingSession: Sendable, Hashable {
    let sessionID: SessionID
    /// The credentials of a provider that came with the request. They must be of this account and are used up; their proof and age are
    /// checked already. Nil where the sign-in that opened the session counts.
    let credentials: SignIn?
}

/// The result of closing an account.
struct AccountClosing: Sendable, Hashable {
    /// Whether it was closed now, and not before.
    let isNew: Bool
    /// Providers at which the user has to withdraw their consent themselves.
    let consentsLeft: [String]
}

extension IdentityStore {
    /// The providers that withhold names and e-mails until the consent is withdrawn. The user who deletes an account must therefore learn
    /// where no token was kept to withdraw it with (Apple's TN3194).
    static let consentsToWithdraw = [ProviderName.apple.value]
    /// How long a closed account is remembered once all services have forgotten it.
    static let closingMilliseconds: Int64 = 30 * 86_400_000
    /// How often a closing is retried after PostgreSQL broke a deadlock.
    private static let closingRetriesMax = 3

    /// Closes an account, in one transaction: its sessions end and are announced as ended, its identities are free, and everything here
    /// goes but for fingerprints of used credentials, the audit log, and the record of the closing. The other services are notified
    /// later.
    ///
    /// Locks are taken in the order of a sign-in: identities, the account, sessions in the order of their ids. So a sign-in at the same
    /// moment comes before, and its session ends too, or after, and opens a new account. Announce the end of sessions and kick the relays
    /// when this returns true.
    ///
    /// - Parameter ground: what is checked first, under the locks.
    /// - Returns: the result; if the account was closed before, nothing was done.
    /// - Throws: `IdentityError` with `accountNotFound`, with `signInInsufficient`, `sessionRevoked` or
    ///   `sessionInvalid` of the session, or with `credentialsForeign` or what a sign-in by the credentials would be refused for;
    ///   ``DeletionNotDue``; and nothing is done. Or what the database throws.
    func closeAccount(
        _ userID: UserID,
        why: ClosingReason,
        ground: ClosingGround = .others,
        eventIDs: (profile: EventID, invites: EventID),
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> AccountClosing {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: Self.closingRetriesMax,
            deadline: deadline
        ) { transaction in
            let user = userID.uuid
            // First, as by a sign-in.
            let claim = try await claim(ground.credentials, for: userID, now, in: transaction)
            let identities = try await lockIdentities(of: [userID], and: ground.credentials, in: transaction)
            let account = try await transaction.query("SELECT FROM accounts WHERE user_id = \(user) FOR UPDATE")
            guard !account.isEmpty else {
                // An absorbed account lives on as another one: that isn't what its owner asked for.
                let known = try await transaction.query(
                    "SELECT why, consents_left FROM account_closings WHERE user_id = \(user)"
                ).first
                guard let known else { throw IdentityError.accountNotFound }
                let (reason, consents) = try known.decode(String.self, [String].self)
                if case .session = ground, reason == ClosingReason.absorbed.rawValue {
                    throw IdentityError.sessionInvalid
                }
                return AccountClosing(isNew: false, consentsLeft: consents)
            }
            // Statements of their own: their snapshots must contain what was committed before the locks were acquired.
            try await transaction.query(
                "SELECT FROM sessions WHERE user_id = \(user) AND revoked_at IS NULL ORDER BY session_id FOR UPDATE"
            )
            switch ground {
            case .others, .operatorNamed: break
            case .schedule: try await checkDue(userID, now, in: transaction)
            case .unusedGuest(let since):
                try await checkUnused(userID, since: PostgresTimestamp(milliseconds: since), in: transaction)
            case .session(let session):
                let opened = try await liveSession(session.sessionID, of: userID, in: transaction)
                if let credentials = session.credentials {
                    try await check(credentials, claim, of: userID, among: identities, in: transaction)
                } else {
                    try await checkNotRecovered(session.sessionID, of: userID, now, in: transaction)
                    try checkSignIn(opened, now)
                }
            }
            try await transaction.execute(
                """
                UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.accountDeleted.rawValue),
                    expires_at = LEAST(expires_at, \(now))
                WHERE user_id = \(user) AND revoked_at IS NULL
                """
            )
            try await forgetToldNames(of: userID, in: transaction)
            try await abandonGrants(of: userID, provider: nil, in: transaction)
            let closing = try await transaction.execute(
                removal(of: userID, why: why, operatorName: ground.operatorName, eventIDs: eventIDs, now)
            )[0]
            return AccountClosing(isNew: true, consentsLeft: try closing.decode(0))
        }
    }

    /// Whether an account was closed, also false for one that was closed long ago; and when it was last active, in Unix milliseconds:
    /// when a session of it that isn't forgotten yet was used, or its user signed in. 0 if that isn't known.
    func state(
        of userID: UserID,
        deadline: Deadline?
    ) async throws -> (isClosed: Bool, lastSeenMilliseconds: Int64) {
        let row = try await database.query(
            """
            SELECT EXISTS (SELECT FROM account_closings WHERE user_id = \(userID.uuid)), GREATEST(
                (SELECT max(last_used_at) FROM sessions WHERE user_id = \(userID.uuid)),
                (SELECT max(last_sign_in_at) FROM provider_identities WHERE user_id = \(userID.uuid)))
            """,
            deadline: deadline
        )[0]
        let (isClosed, lastSeenAt) = try row.decode(Bool.self, PostgresTimestamp?.self)
        return (isClosed, lastSeenAt?.milliseconds ?? 0)
    }

    /// The result of closing an account; nil for one that was not closed, or lives on in another that absorbed it.
    func deletion(of userID: UserID, deadline: Deadline?) async throws -> AccountClosing? {
        let row = try await database.query(
            """
            SELECT consents_left FROM account_closings
            WHERE user_id = \(userID.uuid) AND why <> \(ClosingReason.absorbed.rawValue)
            """,
            deadline: deadline
        ).first
        return try row.map { AccountClosing(isNew: false, consentsLeft: try $0.decode(0)) }
    }

    /// Forgets closings that all services have known for long, at most `limit`, and returns how many.
    func forgetClosings(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.closingMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM account_closings WHERE user_id IN (
                SELECT user_id FROM account_closings
                WHERE closed_at <= \(before) AND GREATEST(profile_done_at, invites_done_at) <= \(before)
                    AND profile_done_at IS NOT NULL AND invites_done_at IS NOT NULL
                ORDER BY closed_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }

    // MARK: - Steps of a closing

    /// How a live session was opened, as the refresh or sign-out before left it. Called under the lock of the account.
    ///
    /// - Returns: the proof of its sign-in, and the time of the sign-in.
    func liveSession(
        _ sessionID: SessionID,
        of userID: UserID,
        in transaction: PostgresTransaction
    ) async throws -> (proof: Proof, createdAt: PostgresTimestamp) {
        let row = try await transaction.query(
            """
            SELECT \(unsafeSQL: Self.isEnded), created_at, proof FROM sessions session
            WHERE session_id = \(sessionID.uuid) AND user_id = \(userID.uuid)
            """
        ).first
        guard let (isEnded, createdAt, proof) = try row?.decode(Bool.self, PostgresTimestamp.self, Proof.self) else {
            throw IdentityError.sessionInvalid
        }
        if isEnded { throw IdentityError.sessionRevoked }
        return (proof, createdAt)
    }

    /// Throws if the session's passkey was added by a recovery code less than a day ago: who has found a code deletes nothing at once. The
    /// deletion is scheduled then, and the owner notified.
    private func checkNotRecovered(
        _ sessionID: SessionID,
        of userID: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let from = PostgresTimestamp(milliseconds: now.milliseconds - ProviderRemoval.waitMilliseconds)
        let rows = try await transaction.query(
            """
            SELECT FROM sessions session JOIN passkeys USING (passkey_id)
            WHERE session_id = \(sessionID.uuid) AND by_recovery_code AND passkeys.created_at > \(from)
                AND subject IN (SELECT subject FROM provider_identities
                    WHERE user_id = \(userID.uuid) AND provider = \(ProviderName.passkey.value))
            """
        )
        guard rows.isEmpty else {
            throw IdentityError.signInInsufficient(.unproven, maxAgeSeconds: limits.deletionSignInSeconds)
        }
    }

    private func checkSignIn(_ opened: (proof: Proof, createdAt: PostgresTimestamp), _ now: PostgresTimestamp) throws {
        let refusal = AccountAct.deleteAccount.refusal(
            proof: opened.proof,
            signedInMilliseconds: opened.createdAt.milliseconds,
            nowMilliseconds: now.milliseconds,
            recentSeconds: limits.deletionSignInSeconds
        )
        if let refusal { throw IdentityError(refusal, recentSeconds: limits.deletionSignInSeconds) }
    }

    /// Records the closing, adds the work that notifies the other services, and deletes the account; identities, sessions, metadata and
    /// reservations go with it by their keys. A guest's successor takes its place in groups. Its row has the providers at which the user has to withdraw their consent: those of which
    /// no token is kept or being revoked.
    func removal(
        of userID: UserID,
        why: ClosingReason,
        operatorName: String? = nil,
        successor: UserID? = nil,
        eventIDs: (profile: EventID, invites: EventID),
        _ now: PostgresTimestamp
    ) -> Query {
        """
        WITH closing AS (
            INSERT INTO account_closings (user_id, why, successor, closed_at, consents_left)
            SELECT \(userID.uuid), \(why.rawValue), \(successor?.uuid), \(now), ARRAY(
                SELECT DISTINCT provider FROM provider_identities linked
                WHERE user_id = \(userID.uuid) AND provider = ANY(\(Self.consentsToWithdraw)) AND NOT EXISTS (
                    SELECT FROM provider_grants known
                    WHERE known.user_id = linked.user_id AND known.provider = linked.provider))
            RETURNING consents_left
        ), told AS (
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            VALUES (security_event_id(\(now), false), \(userID.uuid), \(why.event.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object(\(why.detailName)::text, \(why.detail)::text,
                    'operator', \(operatorName)::text, 'merged_into', \(successor?.description)::text)))
        ), events AS (
            INSERT INTO work (queue, event_id, user_id, created_at, trace, data)
            VALUES (\(ClosingWork.queue(of: .profile)), \(eventIDs.profile.uuid), \(userID.uuid), \(now), \(Traces.current),
                    '{}'),
                (\(ClosingWork.queue(of: .invites)), \(eventIDs.invites.uuid), \(userID.uuid), \(now), \(Traces.current),
                    jsonb_strip_nulls(jsonb_build_object('successor', \(successor?.description)::text)))
        ), proofs AS (
            DELETE FROM work WHERE user_id = \(userID.uuid) AND queue = \(PhoneProofWork.queue)
        ), removed AS (
            DELETE FROM accounts WHERE user_id = \(userID.uuid)
        )
        SELECT consents_left FROM closing
        """
    }
}

extension ClosingGround {
    fileprivate var operatorName: String? {
        if case .operatorNamed(let name) = self { name } else { nil }
    }
}

extension ClosingReason {
    /// The name of the event in the audit log.
    fileprivate var event: SecurityEvent {
        switch self {
        case .deleted, .byOperator: .accountDeleted
        case .providerNotice, .absorbed, .guestExpired: .accountClosed
        }
    }

    fileprivate var detailName: String {
        switch self {
        case .deleted, .byOperator: "by"
        case .providerNotice, .absorbed, .guestExpired: "reason"
        }
    }

    fileprivate var detail: String {
        switch self {
        case .deleted: "owner"
        case .byOperator: "operator"
        case .providerNotice, .absorbed, .guestExpired: rawValue
        }
    }
}
