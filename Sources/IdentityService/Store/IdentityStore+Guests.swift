import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// A guest to come.
struct NewGuest: Sendable {
    /// Ids and the nonce of the session.
    let new: NewSession
    /// What was solved for it; nil where no work is required.
    let challenge: SolvedChallenge?
    /// The device as its app calls it.
    let deviceName: String?
    /// A keyed hash of the client's address; nil for one that isn't known or is nobody's.
    let addressCode: [UInt8]?
    /// A keyed hash of the site that an IPv6 address belongs to.
    let siteCode: [UInt8]?
}

extension IdentityStore {
    /// How long a guest's session may live, in seconds: longer than any account's, since a guest can't sign in again. It ends by not being
    /// used.
    static let guestSessionSeconds: Int64 = 4_000 * 86_400
    /// Whose count that of all new guests is, and as a site that of all without an address.
    private static let everybody = [UInt8](repeating: 0, count: 16)
    /// How long the deletion of a guest account waits after a failed try, in seconds.
    private static let guestRetrySeconds: Int64 = 600
    /// For how long the process that found guest accounts due has them to itself, in seconds: longer than it takes to delete them.
    private static let guestLeaseSeconds: Int64 = 180

    /// Creates a guest account with its session, and uses the solved challenge up, in one transaction; or returns the session that the same
    /// challenge opened a moment ago. Of concurrent calls with one challenge exactly one finds its fingerprint new.
    ///
    /// Beyond a limit nothing is written: the same solved challenge costs a flood's maker nothing more.
    ///
    /// - Throws: `IdentityError.guest` with `workSpent` or `tooMany`, and nothing is done; or what the database throws.
    func openGuest(
        _ guest: NewGuest,
        _ policy: GuestPolicy,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SignInOutcome {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            let counts = counts(of: guest, policy)
            // First without a lock: a flood must not wait in line for its refusal.
            if let refusal = try await refusal(by: counts, nowMilliseconds, in: transaction) {
                guard let challenge = guest.challenge, try await isSpent(challenge, in: transaction) else {
                    throw refusal
                }
                return try await guestSession(openedBy: challenge.fingerprint, nowMilliseconds: nowMilliseconds) {
                    try await transaction.execute($0)
                }
            }
            if let challenge = guest.challenge {
                let end = PostgresTimestamp(secondsSince1970: challenge.endsAtSeconds)
                let claimed = try await transaction.execute(
                    """
                    INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
                    VALUES (\(challenge.fingerprint), \(guest.new.sessionID.uuid), \(now), \(end))
                    ON CONFLICT (fingerprint) DO NOTHING
                    """
                )
                guard claimed.affected == 1 else {
                    return try await guestSession(openedBy: challenge.fingerprint, nowMilliseconds: nowMilliseconds) {
                        try await transaction.execute($0)
                    }
                }
            }
            let outcome = try await insert(guest, policy, nowMilliseconds: nowMilliseconds, in: transaction)
            for (quota, subject) in counts {
                if let wait = try await QuotaStore.spend(
                    quota,
                    of: subject,
                    nowMilliseconds: nowMilliseconds,
                    in: transaction
                ) {
                    throw Self.refusal(by: quota, wait)
                }
            }
            return outcome
        }
    }

    /// How many guests came in the hour that runs.
    func guestCount(_ policy: GuestPolicy, nowMilliseconds: Int64, deadline: Deadline?) async throws -> Int {
        try await QuotaStore.count(
            policy.all,
            of: Self.everybody,
            nowMilliseconds: nowMilliseconds,
            in: database,
            deadline: deadline
        )
    }

    /// What counts a new guest, in the order in which the counts are locked.
    private func counts(of guest: NewGuest, _ policy: GuestPolicy) -> [(quota: Quota, subject: [UInt8])] {
        var counts = [(quota: policy.all, subject: Self.everybody)]
        // A client without an address may be everybody behind a proxy that the gateway doesn't know: such share a site's limit.
        if let site = guest.siteCode ?? (guest.addressCode == nil ? Self.everybody : nil) {
            counts.insert((policy.perSite, site), at: 0)
        }
        if let address = guest.addressCode { counts.insert((policy.perAddress, address), at: 0) }
        return counts
    }

    private func refusal(
        by counts: [(quota: Quota, subject: [UInt8])],
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> IdentityError? {
        for (quota, subject) in counts {
            let wait = try await QuotaStore.wait(quota, of: subject, nowMilliseconds: nowMilliseconds, in: transaction)
            if let wait { return Self.refusal(by: quota, wait) }
        }
        return nil
    }

    private static func refusal(by quota: Quota, _ waitMilliseconds: Int64) -> IdentityError {
        .guest(.tooMany(retryAfterMilliseconds: waitMilliseconds, inAll: quota.kind == GuestPolicy.allKind))
    }

    private func isSpent(_ challenge: SolvedChallenge, in transaction: PostgresTransaction) async throws -> Bool {
        try await !transaction.query("SELECT FROM sign_ins WHERE fingerprint = \(challenge.fingerprint)").isEmpty
    }

    private func insert(
        _ guest: NewGuest,
        _ policy: GuestPolicy,
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> SignInOutcome {
        let (now, new) = (PostgresTimestamp(milliseconds: nowMilliseconds), guest.new)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + Self.guestSessionSeconds * 1000)
        let until = PostgresTimestamp(milliseconds: nowMilliseconds + policy.inactivitySeconds * 1000)
        let provider = ProviderName.guest.value
        let row = try await transaction.execute(
            """
            WITH account AS (
                INSERT INTO accounts (user_id, created_at, guest_until) VALUES (\(new.userID.uuid), \(now), \(until))
                RETURNING user_id, number
            ), session AS (
                INSERT INTO sessions (
                    session_id, user_id, provider, client_id, device_name, opened_account, nonce, proof, created_at,
                    last_used_at, expires_at, key_thumbprint)
                SELECT \(new.sessionID.uuid), user_id, \(provider), \(provider), \(guest.deviceName), true, \(new.nonce),
                    \(Proof.guest.rawValue), GREATEST(\(now), sessions_from), \(now), \(end), \(new.key?.bytes)
                FROM account, (SELECT sessions_from FROM session_epoch LIMIT 1) epoch
            )
            SELECT number FROM account
            """
        )[0]
        let facts = SessionFacts(
            userID: new.userID,
            sessionID: new.sessionID,
            provider: .guest,
            clientID: provider,
            signedInAtSeconds: nowMilliseconds / 1000,
            proof: .guest,
            key: new.key
        )
        let session = StoredSession(
            facts: facts,
            nonce: new.nonce,
            number: 0,
            toldName: nil,
            endsAtSeconds: end.secondsSince1970,
            accountNumber: try row.decode(0)
        )
        return SignInOutcome(session: session, isNewUser: true, proof: .guest)
    }

    // MARK: - When a guest is not used any more

    /// Looks at the guest accounts whose time has come, at most `limit`, and not at those that another process looks at: those that were used
    /// meanwhile get time anew. The others are the caller's for three minutes, whether or not they can be closed then.
    ///
    /// - Returns: the others, which are to be closed, and how many were looked at.
    func dueGuests(
        _ policy: GuestPolicy,
        nowMilliseconds: Int64,
        limit: Int
    ) async throws(PostgresError) -> (users: [UserID], count: Int) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let leaseEnd = PostgresTimestamp(milliseconds: nowMilliseconds + Self.guestLeaseSeconds * 1000)
        let rows = try await database.execute(
            """
            WITH due AS MATERIALIZED (
                SELECT user_id FROM accounts WHERE guest_until <= \(now)
                ORDER BY guest_until LIMIT \(limit) FOR NO KEY UPDATE SKIP LOCKED
            ), used AS (
                SELECT user_id, max(last_used_at) + \(policy.inactivitySeconds) * interval '1 second' AS until
                FROM due JOIN sessions USING (user_id) WHERE revoked_at IS NULL GROUP BY user_id
            )
            UPDATE accounts SET guest_until = CASE WHEN until > \(now) THEN until ELSE \(leaseEnd) END
            FROM due LEFT JOIN used USING (user_id) WHERE accounts.user_id = due.user_id
            RETURNING accounts.user_id, COALESCE(until > \(now), false)
            """
        )
        var users: [UserID] = []
        for row in rows {
            let (userID, isKept) = try row.decode(PostgresUUID.self, Bool.self)
            if !isKept { users.append(UserID(userID)) }
        }
        return (users, rows.count)
    }

    /// Throws ``DeletionNotDue`` unless an account is a guest's that was not used since a time, and that none absorbs now. Called under the locks of the account's row
    /// and of its sessions: a refresh at the same moment comes before, and the guest stays; or after, and finds no session.
    func checkUnused(
        _ userID: UserID,
        since idleStart: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            SELECT FROM accounts WHERE user_id = \(userID.uuid) AND guest_until IS NOT NULL AND NOT EXISTS (
                SELECT FROM sessions
                WHERE sessions.user_id = accounts.user_id AND revoked_at IS NULL AND last_used_at > \(idleStart))
                AND NOT EXISTS (SELECT FROM absorptions WHERE absorbed = accounts.user_id)
            """
        )
        if rows.isEmpty { throw DeletionNotDue() }
    }

    /// Puts the deletion of a guest account off that failed: those behind it go first.
    func postponeGuest(_ userID: UserID, nowMilliseconds: Int64) async throws(PostgresError) {
        let next = PostgresTimestamp(milliseconds: nowMilliseconds + Self.guestRetrySeconds * 1000)
        try await database.execute(
            "UPDATE accounts SET guest_until = \(next) WHERE user_id = \(userID.uuid) AND guest_until IS NOT NULL"
        )
    }
}
