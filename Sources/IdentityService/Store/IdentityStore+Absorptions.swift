import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

extension IdentityStore {
    /// How long a worker holds an absorption alone: longer than a step may take, and each step renews it.
    static let absorptionLeaseMilliseconds: Int64 = 10_000
    /// The maximum age of the session that requests an absorption.
    static let absorptionSignInMilliseconds: Int64 = 600_000

    /// Begins the absorption of one account by another: the session's account, and the account of the identity whose credentials were
    /// presented just now. The older absorbs the younger, or the younger the older if the younger isn't empty.
    ///
    /// Both must be proven, not by a token alone that another backend could have had; have no provider in common; and be in no other
    /// absorption. The credentials are taken, so that they do nothing else meanwhile. Tickets stay: they are useless without the
    /// credentials.
    ///
    /// - Returns: the absorption, which the caller continues; also an idle one that was begun by the same credentials before.
    /// - Throws: `IdentityError.link` with `identityTaken` where nothing may be absorbed, or with `absorptionUnderWay`; or what a
    ///   link throws. Then nothing is done. Or what the database throws.
    func beginAbsorption(
        _ id: EventID,
        _ signIn: SignIn,
        of session: LinkingSession,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> Absorption {
        guard AccountAct.acceptedProofs.contains(signIn.proof) else { throw IdentityError.proofRequired }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        for _ in 1...Self.linkTriesMax {
            do {
                return try await database.withTransaction(
                    retries: Self.linkRetriesMax,
                    deadline: deadline
                ) { transaction in
                    try await take(signIn, for: session.userID, now, in: transaction)
                    let other = try await otherAccount(signIn, in: transaction)
                    try await checkMayAbsorb(signIn, session, other, now, in: transaction)
                    return try await begin(id, signIn, session, other, now, in: transaction)
                }
            } catch is IdentityAppeared {
                continue
            }
        }
        throw IdentityError.link(.absorptionUnderWay)
    }

    /// Moves an absorption to its next step.
    ///
    /// - Returns: false if another worker has continued it.
    func go(_ absorption: Absorption, to step: Absorption.Step, nowMilliseconds: Int64) async throws -> Bool {
        let rows = try await database.execute(
            """
            UPDATE absorptions SET state = \(step.rawValue), held_until = \(Self.leaseEnd(nowMilliseconds)),
                failures = 0, retry_at = NULL
            WHERE absorption_id = \(absorption.id.uuid) AND state = \(absorption.step.rawValue)
            """
        )
        return rows.affected == 1
    }

    /// After an account turned out not to be empty, starts again with the two accounts swapped, under a new id. Or ends the absorption if
    /// that was tried already or an account is gone; the credentials are good again then.
    ///
    /// - Returns: the absorption to continue; nil if it is over.
    /// - Throws: `IdentityError.link(.absorptionUnderWay)` if another worker has continued it; or what the database throws.
    func turn(_ absorption: Absorption, as id: EventID, nowMilliseconds: Int64) async throws -> Absorption? {
        try await database.withTransaction(retries: Self.linkRetriesMax) { transaction in
            let rows = try await transaction.execute(
                """
                UPDATE absorptions SET absorption_id = \(id.uuid), absorbed = absorber, absorber = absorbed, state = 'asking',
                    may_turn = false, held_until = \(Self.leaseEnd(nowMilliseconds)), failures = 0, retry_at = NULL
                WHERE absorption_id = \(absorption.id.uuid) AND may_turn
                    AND (SELECT count(*) FROM accounts WHERE user_id IN (absorbed, absorber)) = 2
                """
            )
            if rows.affected == 1 {
                return Absorption(
                    id: id,
                    absorbed: absorption.absorber,
                    absorber: absorption.absorbed,
                    asker: absorption.asker,
                    step: .asking
                )
            }
            guard try await end(absorption, givingBack: true, in: transaction) else {
                throw IdentityError.link(.absorptionUnderWay)
            }
            return nil
        }
    }

    /// Takes the absorption that has been idle the longest; nil if there is none. One at a time: its steps renew the lease, and the
    /// leases of others would be over before their turn.
    func takeAbsorption(nowMilliseconds: Int64) async throws -> Absorption? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.execute(
            """
            UPDATE absorptions SET held_until = \(Self.leaseEnd(nowMilliseconds)) WHERE absorption_id = (
                SELECT absorption_id FROM absorptions
                WHERE held_until <= \(now) AND (retry_at IS NULL OR retry_at <= \(now))
                ORDER BY held_until LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING \(unsafeSQL: Self.absorptionColumns)
            """
        ).first.map { try Absorption($0) }
    }

    /// Puts an absorption behind the others that failed: twice as long each time, up to ten minutes. A client that presents the same
    /// credentials again continues it all the same.
    func postpone(_ absorption: Absorption, nowMilliseconds: Int64) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        // By both: an absorption that was turned has another id, and the other order.
        let pair = [absorption.absorbed, absorption.absorber].map(\.uuid)
        try await database.execute(
            """
            UPDATE absorptions SET failures = LEAST(failures + 1, 1000),
                retry_at = \(now) + LEAST(600, 10 * 2 ^ LEAST(failures, 10)) * interval '1 second'
            WHERE absorbed = ANY(\(pair)) AND absorber = ANY(\(pair))
            """
        )
    }

    /// When the oldest running absorption began, in Unix milliseconds; nil if none is running.
    func oldestAbsorption() async throws -> Int64? {
        try await database.query("SELECT min(begun_at) FROM absorptions")[0].decode(0, as: PostgresTimestamp?.self)?
            .milliseconds
    }

    /// Throws while one of the accounts is absorbed or absorbs; called under the locks of their rows.
    func checkNotAbsorbing(_ users: [UserID], in transaction: PostgresTransaction) async throws {
        let ids = users.map(\.uuid)
        let rows = try await transaction.query(
            "SELECT FROM absorptions WHERE absorbed = ANY(\(ids)) OR absorber = ANY(\(ids))"
        )
        guard rows.isEmpty else { throw IdentityError.link(.absorptionUnderWay) }
    }

    /// Forgets an absorption, and gives its credentials back if their owner may need them.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    func end(
        _ absorption: Absorption,
        givingBack: Bool,
        in transaction: PostgresTransaction
    ) async throws -> Bool {
        let rows = try await transaction.execute(
            "DELETE FROM absorptions WHERE absorption_id = \(absorption.id.uuid) RETURNING fingerprints"
        )
        guard let fingerprints = try rows.first?.decode(0, as: [[UInt8]].self) else { return false }
        guard givingBack else { return true }
        try await transaction.execute(
            """
            DELETE FROM sign_ins WHERE fingerprint = ANY(\(fingerprints))
                AND session_id = ANY(\(fingerprints.map { Self.mark(of: absorption.asker, $0) }))
            """
        )
        return true
    }

    // MARK: - Steps of a beginning

    static let absorptionColumns = "absorption_id, absorbed, absorber, asker, is_guest, state"

    static func leaseEnd(_ nowMilliseconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(milliseconds: nowMilliseconds + absorptionLeaseMilliseconds)
    }

    private static func fingerprints(of signIn: SignIn) -> [[UInt8]] {
        [signIn.fingerprint] + (signIn.retryFingerprint.map { [$0] } ?? [])
    }

    /// Takes the credentials, or finds that the same account took them.
    private func take(
        _ signIn: SignIn,
        for userID: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let issuedAt = PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds)
        let tokenExpiry = PostgresTimestamp(secondsSince1970: signIn.acceptedUntilSeconds)
        let fingerprints = Self.fingerprints(of: signIn)
        let marks = fingerprints.map { Self.mark(of: userID, $0) }
        try await transaction.execute(
            """
            INSERT INTO sign_ins (fingerprint, session_id, created_at, expires_at)
            SELECT fingerprint, mark, \(now), \(tokenExpiry) FROM unnest(\(fingerprints), \(marks)) AS shown (fingerprint, mark)
            WHERE (SELECT sessions_from FROM session_epoch) <= \(issuedAt) AND \(signIn.mayBeFirst)
                AND (\(signIn.ticketHash) IS NULL
                    OR EXISTS (SELECT FROM web_tickets WHERE ticket_hash = \(signIn.ticketHash)))
            ON CONFLICT (fingerprint) DO NOTHING
            """
        )
        let taken = try await transaction.query(
            "SELECT FROM sign_ins WHERE fingerprint = \(signIn.fingerprint) AND session_id = \(marks[0])"
        )
        guard !taken.isEmpty else { throw try await refusal(of: signIn) { try await transaction.execute($0) } }
    }

    private func otherAccount(_ signIn: SignIn, in transaction: PostgresTransaction) async throws -> UserID {
        let row = try await transaction.query(
            """
            SELECT user_id FROM provider_identities
            WHERE provider = \(signIn.provider.value) AND subject = \(signIn.subject)
            """
        ).first
        // It belonged to another account a moment ago.
        guard let row else { throw IdentityError.link(.absorptionUnderWay) }
        return UserID(try row.decode(0, as: PostgresUUID.self))
    }

    /// Checks both accounts under the locks of all that they consist of.
    private func checkMayAbsorb(
        _ signIn: SignIn,
        _ session: LinkingSession,
        _ other: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws {
        let identities = try await lockIdentities(of: [session.userID, other], and: signIn, in: transaction)
        let wanted = identities.first { $0.provider == signIn.provider.value && $0.subject == signIn.subject }
        guard let wanted, wanted.userID == other, other != session.userID else { throw IdentityAppeared() }
        let users = [session.userID, other].map(\.uuid)
        let areBlocked = try await transaction.query(
            """
            SELECT blocked_at IS NOT NULL FROM accounts WHERE user_id = ANY(\(users)) ORDER BY user_id FOR NO KEY UPDATE
            """
        ).map { try $0.decode(0, as: Bool.self) }
        _ = try await check(session, for: .mergeAccounts, now, in: transaction)
        if areBlocked.contains(true) { throw IdentityError.signIn(.accountBlocked) }
        let openedFrom = PostgresTimestamp(milliseconds: now.milliseconds - Self.absorptionSignInMilliseconds)
        // Recent by a limit of its own, independent of other acts.
        let recent = try await transaction.query(
            "SELECT FROM sessions WHERE session_id = \(session.sessionID.uuid) AND created_at >= \(openedFrom)"
        )
        let providers = identities.map(\.provider)
        guard !recent.isEmpty, Set(providers).count == providers.count,
            identities.allSatisfy(\.mayOpen),
            wanted.tokensFrom.map({ $0 > PostgresTimestamp(secondsSince1970: signIn.issuedAtSeconds) }) != true
        else { throw IdentityError.link(.identityTaken) }
    }

    private func begin(
        _ id: EventID,
        _ signIn: SignIn,
        _ session: LinkingSession,
        _ other: UserID,
        _ now: PostgresTimestamp,
        in transaction: PostgresTransaction
    ) async throws -> Absorption {
        let pair = [session.userID, other].map(\.uuid)
        let idle = try await transaction.execute(
            """
            UPDATE absorptions SET held_until = \(Self.leaseEnd(now.milliseconds))
            WHERE absorbed = ANY(\(pair)) AND absorber = ANY(\(pair)) AND asker = \(session.userID.uuid)
                AND \(signIn.fingerprint) = ANY(fingerprints) AND held_until <= \(now)
            RETURNING \(unsafeSQL: Self.absorptionColumns)
            """
        )
        if let row = idle.first { return try Absorption(row) }
        try await checkNotAbsorbing([session.userID, other], in: transaction)
        try await checkNotSucceeding([session.userID, other], in: transaction)
        let row = try await transaction.execute(
            """
            INSERT INTO absorptions (
                absorption_id, absorbed, absorber, asker, fingerprints, state, may_turn, begun_at, held_until)
            SELECT \(id.uuid), younger.user_id, older.user_id, \(session.userID.uuid),
                \(Self.fingerprints(of: signIn)), 'asking', true, \(now), \(Self.leaseEnd(now.milliseconds))
            FROM accounts younger, accounts older
            WHERE younger.user_id = ANY(\(pair)) AND older.user_id = ANY(\(pair))
                AND (older.created_at, older.user_id) < (younger.created_at, younger.user_id)
            RETURNING \(unsafeSQL: Self.absorptionColumns)
            """
        ).first
        // One of them was deleted.
        guard let row else { throw IdentityError.link(.absorptionUnderWay) }
        return try Absorption(row)
    }
}

extension Absorption {
    /// The absorption of a row of `absorptionColumns`.
    init(_ row: Row) throws(PostgresError) {
        let (id, absorbed, absorber, asker, isGuest, state) = try row.decode(
            PostgresUUID.self,
            PostgresUUID.self,
            PostgresUUID.self,
            PostgresUUID.self,
            Bool.self,
            String.self
        )
        guard let step = Step(rawValue: state) else {
            throw PostgresError.decoding(CellDecodingError(column: 5, reason: "an unknown step"))
        }
        self.init(
            id: EventID(id),
            absorbed: UserID(absorbed),
            absorber: UserID(absorber),
            asker: UserID(asker),
            isGuest: isGuest,
            step: step
        )
    }
}
