import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// The result of beginning an opening.
enum OpeningBeginning: Sendable {
    /// It was begun: continue with it.
    case begun(Absorption)
    /// Another worker already continues the same one.
    case isUnderWay
    /// One of the two accounts is in an absorption with a third one: retry later.
    case mustWait
    /// The account isn't opened.
    case refused(AccountOpening.Refusal)
}

extension IdentityStore {
    /// How long after its beginning an opening may reach the point of no return. Later its reason may no longer hold: the number may have
    /// been released. A caller that still wants it begins it anew.
    static let openingMilliseconds: Int64 = 30_000

    /// Begins the absorption that opens an imported account to which no user can sign in, once it is checked under the locks of all that
    /// both accounts consist of; and records that in the audit log of the account.
    ///
    /// Locks are taken in the order of a link: identities, then accounts in the order of their ids.
    ///
    /// - Throws: what the database throws; then nothing is done.
    func beginOpening(
        _ id: EventID,
        of holder: UserID,
        for claimant: UserID,
        _ ground: AccountOpening.Ground,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> OpeningBeginning {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            let refusal = try await refusal(ofOpening: holder, for: claimant, ground, in: transaction)
            let known = try await transaction.query(
                """
                SELECT absorbed = \(claimant.uuid) AND absorber = \(holder.uuid)
                    AND EXISTS (SELECT FROM account_openings opening WHERE opening.absorption_id = known.absorption_id)
                FROM absorptions known
                WHERE absorbed = ANY(\([holder.uuid, claimant.uuid])) OR absorber = ANY(\([holder.uuid, claimant.uuid]))
                """
            ).map { try $0.decode(0, as: Bool.self) }
            if known.contains(true) { return .isUnderWay }
            if let refusal { return .refused(refusal) }
            guard known.isEmpty, try await !isSucceeding([holder, claimant], in: transaction) else { return .mustWait }
            try await begin(id, of: holder, for: claimant, ground, nowMilliseconds, in: transaction)
            return .begun(
                Absorption(id: id, absorbed: claimant, absorber: holder, asker: claimant, step: .asking)
            )
        }
    }

    /// Judges an opening as ``beginOpening(_:of:for:_:nowMilliseconds:deadline:)`` does, and begins nothing.
    ///
    /// - Returns: the providers that would open the account.
    /// - Throws: the `AccountOpening.Refusal`, or what the database throws.
    func judgeOpening(
        of holder: UserID,
        for claimant: UserID,
        _ ground: AccountOpening.Ground,
        deadline: Deadline?
    ) async throws -> [String] {
        try await database.withTransaction(retries: Self.linkRetriesMax, deadline: deadline) { transaction in
            if let refusal = try await refusal(ofOpening: holder, for: claimant, ground, in: transaction) {
                throw refusal
            }
            return try await lockIdentities(of: [claimant], in: transaction).map(\.provider)
        }
    }

    /// The providers that an account got when it was opened for another one; nil if it wasn't, or so long ago that the audit log has
    /// forgotten it.
    func opening(of holder: UserID, for claimant: UserID, deadline: Deadline?) async throws -> [String]? {
        let row = try await database.query(
            """
            SELECT ARRAY(SELECT jsonb_array_elements_text(details->'providers')) FROM security_events
            WHERE user_id = \(holder.uuid) AND kind = \(SecurityEvent.accountOpened.rawValue)
                AND details->>'absorbed' = \(claimant.description)
            ORDER BY event_id DESC LIMIT 1
            """,
            deadline: deadline
        ).first
        return try row?.decode(0, as: [String].self)
    }

    /// Whether an absorption may still reach the point of no return: the absorbing account exists, and if the absorption opens it, it may
    /// still be opened, and all of it was checked a moment ago; and if it absorbs a guest's, neither is blocked.
    func isWanted(_ absorption: Absorption, nowMilliseconds: Int64) async throws -> Bool {
        let judgedFrom = PostgresTimestamp(milliseconds: nowMilliseconds - Self.openingMilliseconds)
        return try await !database.query(
            """
            SELECT FROM accounts holder WHERE user_id = \(absorption.absorber.uuid)
                AND NOT (\(absorption.isGuest) AND EXISTS (
                    SELECT FROM accounts WHERE user_id IN (holder.user_id, \(absorption.absorbed.uuid)) AND blocked_at IS NOT NULL))
                AND NOT EXISTS (
                SELECT FROM account_openings JOIN absorptions USING (absorption_id)
                WHERE absorption_id = \(absorption.id.uuid) AND (
                    begun_at <= \(judgedFrom) OR holder.blocked_at IS NOT NULL
                    OR EXISTS (SELECT FROM provider_identities WHERE user_id = holder.user_id)
                    OR EXISTS (SELECT FROM sessions WHERE user_id = holder.user_id AND revoked_at IS NULL)
                    OR EXISTS (SELECT FROM accounts WHERE user_id = absorbed AND blocked_at IS NOT NULL)))
            """
        ).isEmpty
    }

    /// Records in the audit log of the account that it was opened, if this absorption opens it. Called under the locks of both accounts'
    /// rows, while the absorption exists.
    func tellOpened(
        _ absorption: Absorption,
        _ providers: [String],
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            """
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            SELECT security_event_id(\(now), false), \(absorption.absorber.uuid), \(SecurityEvent.accountOpened.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object('by', ground, 'operator', operator,
                    'absorbed', \(absorption.absorbed.description)::text, 'providers', to_jsonb(\(providers)::text[])))
            FROM account_openings WHERE absorption_id = \(absorption.id.uuid)
            """
        )
    }

    /// Whether the account of a sign-in is being absorbed into an older one that is opened for its person.
    func isBeingOpened(_ signIn: SignIn, _ execute: Execute) async throws -> Bool {
        try await !execute(
            """
            \(unsafeSQL: Self.identityOnTheWay) AND own.provider = \(signIn.provider.value) AND own.subject = \(signIn.subject)
            """
        ).isEmpty
    }

    /// Identities of accounts that an opened one absorbs; a condition that names one is appended.
    static let identityOnTheWay = """
        SELECT FROM provider_identities own JOIN absorptions ON absorbed = own.user_id JOIN account_openings USING (absorption_id)
        WHERE true
        """

    /// Undoes a sign-in whose response no client gets, since the account is being absorbed into another: its session ends, and its
    /// credentials are good again.
    func undo(
        _ signIn: SignIn,
        _ sessionID: SessionID,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws(PostgresError) {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let fingerprints = [signIn.fingerprint] + (signIn.retryFingerprint.map { [$0] } ?? [])
        _ = try await database.execute(
            """
            WITH ended AS (
                UPDATE sessions SET revoked_at = \(now), revoke_reason = \(SessionEnd.ended.rawValue),
                    expires_at = LEAST(expires_at, \(now))
                WHERE session_id = \(sessionID.uuid) AND revoked_at IS NULL
            )
            DELETE FROM sign_ins WHERE fingerprint = ANY(\(fingerprints)) AND session_id = \(sessionID.uuid)
            """,
            deadline: deadline
        )
    }

    // MARK: - Steps

    /// Locks what both accounts consist of, and checks it.
    private func refusal(
        ofOpening holder: UserID,
        for claimant: UserID,
        _ ground: AccountOpening.Ground,
        in transaction: PostgresTransaction
    ) async throws -> AccountOpening.Refusal? {
        guard holder != claimant else { return .notOpenable }
        let identities = try await lockIdentities(of: [holder, claimant], in: transaction)
        let users = [holder.uuid, claimant.uuid]
        try await transaction.query(
            "SELECT FROM accounts WHERE user_id = ANY(\(users)) ORDER BY user_id FOR NO KEY UPDATE"
        )
        // A statement of its own, to see the changes that were waited for.
        let rows = try await transaction.query(
            """
            SELECT user_id, imported_at IS NOT NULL, blocked_at IS NOT NULL,
                EXISTS (SELECT FROM sessions live WHERE live.user_id = known.user_id AND revoked_at IS NULL)
            FROM accounts known WHERE user_id = ANY(\(users))
            """
        )
        var (found, other): (AccountOpening.Holder?, AccountOpening.Claimant?)
        for row in rows {
            let (user, isImported, isBlocked, hasSessions) = try row.decode(
                PostgresUUID.self,
                Bool.self,
                Bool.self,
                Bool.self
            )
            let own = identities.filter { $0.userID == UserID(user) }
            if UserID(user) == holder {
                found = AccountOpening.Holder(
                    isImported: isImported,
                    isBlocked: isBlocked,
                    identityCount: own.count,
                    hasSessions: hasSessions
                )
            } else {
                other = AccountOpening.Claimant(isBlocked: isBlocked, identities: own.map(\.mayOpen))
            }
        }
        return AccountOpening.refusal(holder: found, claimant: other, ground: ground)
    }

    private func begin(
        _ id: EventID,
        of holder: UserID,
        for claimant: UserID,
        _ ground: AccountOpening.Ground,
        _ nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let (word, operatorName): (String, String?) =
            switch ground {
            case .proof(let proof, _): (proof, nil)
            case .byOperator(let name): ("operator", name)
            }
        // No credentials are taken: the caller that answers the sign-in that proved the number gives its credentials back.
        try await transaction.execute(
            """
            INSERT INTO absorptions (
                absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, begun_at, held_until)
            VALUES (\(id.uuid), \(claimant.uuid), \(holder.uuid), \(claimant.uuid), '{}', 'asking', false, \(now),
                \(PostgresTimestamp(milliseconds: nowMilliseconds + Self.absorptionLeaseMilliseconds)))
            """
        )
        try await transaction.execute(
            """
            WITH opening AS (
                INSERT INTO account_openings (absorption_id, ground, operator)
                VALUES (\(id.uuid), \(word), \(operatorName))
            )
            INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
            VALUES (security_event_id(\(now), false), \(holder.uuid), \(SecurityEvent.accountOpening.rawValue), \(now),
                jsonb_strip_nulls(jsonb_build_object('by', \(word)::text, 'operator', \(operatorName)::text,
                    'absorbed', \(claimant.description)::text)))
            """
        )
    }
}
