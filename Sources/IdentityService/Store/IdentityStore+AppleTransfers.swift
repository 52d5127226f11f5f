import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels

/// From which Apple developer team to which other one people are transferred.
struct TeamTransfer: Sendable, Hashable {
    let from: String
    let to: String
}

/// A person whose identifier is to be requested from Apple.
struct TransferredPerson: Sendable, Hashable {
    let userID: UserID
    /// Apple's subject for them, as far as we know.
    let subject: String
    /// The identifier of their transfer; nil before it is known.
    let transferSubject: String?
}

/// The result of giving an identity the subject that today's team has for it.
enum SubjectMove: Sendable, Hashable {
    /// The identity has the subject now.
    case moved
    /// Another identity, of this account, has that subject.
    case taken(by: UserID)
    /// There is nothing to move: the identity was moved before, or its account is gone.
    case gone
}

/// The progress of a transfer.
struct TransferCounts: Sendable, Hashable {
    let transfer: TeamTransfer
    /// People whose identifiers are known, and who haven't arrived.
    let waiting: Int64
    /// People who have arrived.
    let imported: Int64
}

extension IdentityStore {
    /// The limit of a statement about transfers, including the command's own wait for a lock.
    static let transferStatementLimit: Duration = .seconds(60)
    /// How long the token of a person in a transfer isn't checked: Apple gives a transfer 60 days.
    static let transferPauseMilliseconds: Int64 = 70 * 86_400_000
    /// How long a person's transfer is remembered.
    static let transferMilliseconds: Int64 = 180 * 86_400_000

    // MARK: - Handing over

    /// Returns how many Apple identities have no transfer identifier for a team yet.
    func exportableCount(to team: String) async throws(PostgresError) -> Int64 {
        let rows = try await database.query(
            """
            SELECT count(*) FROM provider_identities
            WHERE provider = 'apple' AND NOT EXISTS (
                SELECT FROM apple_transfers known
                WHERE known.provider = provider_identities.provider AND known.subject = provider_identities.subject
                    AND to_team = \(team))
            """,
            deadline: .after(Self.transferStatementLimit)
        )
        return try rows.first?.decode(0) ?? 0
    }

    /// The next of these people, in the order of their subjects.
    func exportable(to team: String, after subject: String, limit: Int) async throws(PostgresError)
        -> [TransferredPerson]
    {
        let rows = try await database.query(
            """
            SELECT user_id, subject, NULL::text FROM provider_identities
            WHERE provider = 'apple' AND subject > \(subject) AND NOT EXISTS (
                SELECT FROM apple_transfers known
                WHERE known.provider = provider_identities.provider AND known.subject = provider_identities.subject
                    AND to_team = \(team))
            ORDER BY subject LIMIT \(limit)
            """,
            deadline: .after(Self.transferStatementLimit)
        )
        return try rows.people()
    }

    /// Records the transfer identifier of a person. Their refresh token is left alone until the transfer is over: Apple may refuse it to
    /// either team, and that would sign them out.
    ///
    /// - Returns: false if the identity is gone.
    func keepTransfer(
        of subject: String,
        _ transferSubject: String,
        _ transfer: TeamTransfer,
        nowMilliseconds: Int64
    ) async throws(PostgresError) -> Bool {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let checkAt = PostgresTimestamp(milliseconds: nowMilliseconds + Self.transferPauseMilliseconds)
        let rows = try await database.execute(
            """
            WITH identity AS MATERIALIZED (
                SELECT provider, subject, user_id FROM provider_identities
                WHERE provider = 'apple' AND subject = \(subject) FOR KEY SHARE
            ), put_off AS (
                UPDATE provider_grants SET next_at = GREATEST(next_at, \(checkAt))
                WHERE user_id = (SELECT user_id FROM identity) AND provider = 'apple' AND state = 'kept'
            )
            INSERT INTO apple_transfers (provider, subject, from_team, to_team, transfer_sub, exported_at)
            SELECT provider, subject, \(transfer.from), \(transfer.to), \(transferSubject), \(now) FROM identity
            ON CONFLICT (provider, subject) DO UPDATE SET from_team = EXCLUDED.from_team, to_team = EXCLUDED.to_team,
                transfer_sub = EXCLUDED.transfer_sub, exported_at = EXCLUDED.exported_at, imported_at = NULL
            """,
            deadline: .after(Self.transferStatementLimit)
        )
        return rows.affected > 0
    }

    // MARK: - Taking over

    /// Returns how many people were handed over and haven't arrived.
    func importableCount(_ transfer: TeamTransfer) async throws(PostgresError) -> Int64 {
        let rows = try await database.query(
            """
            SELECT count(*) FROM apple_transfers
            WHERE from_team = \(transfer.from) AND to_team = \(transfer.to) AND imported_at IS NULL
            """,
            deadline: .after(Self.transferStatementLimit)
        )
        return try rows.first?.decode(0) ?? 0
    }

    /// The next of these people, in the order of their subjects.
    func importable(
        _ transfer: TeamTransfer,
        after subject: String,
        limit: Int
    ) async throws(PostgresError) -> [TransferredPerson] {
        let rows = try await database.query(
            """
            SELECT user_id, subject, transfer_sub FROM apple_transfers JOIN provider_identities USING (provider, subject)
            WHERE from_team = \(transfer.from) AND to_team = \(transfer.to) AND imported_at IS NULL
                AND subject > \(subject)
            ORDER BY subject LIMIT \(limit)
            """,
            deadline: .after(Self.transferStatementLimit)
        )
        return try rows.people()
    }

    /// Returns whether a person with this transfer identifier is still to arrive.
    func isTransferred(_ transferSubject: String, deadline: Deadline?) async throws(PostgresError) -> Bool {
        try await !database.query(
            "SELECT FROM apple_transfers WHERE transfer_sub = \(transferSubject)",
            deadline: deadline
        ).isEmpty
    }

    /// The known subject of the person with this transfer identifier; nil if there is none.
    func subject(transferredBy transferSubject: String, deadline: Deadline?) async throws(PostgresError) -> String? {
        try await database.query(
            "SELECT subject FROM apple_transfers WHERE transfer_sub = \(transferSubject)",
            deadline: deadline
        ).first?.decode(0)
    }

    /// Gives the identity of a transferred person the subject that today's team has for them. The grant of the team before is forgotten,
    /// since it is worth nothing to this team. The audit log records the move.
    ///
    /// Any number of callers may do this at once, sign-ins among them: one moves it, the others find it moved. Locks are taken in the
    /// order of a sign-in.
    ///
    /// - Parameter privateEmail: the relay address for today's team; nil keeps what is known.
    func moveSubject(
        transferredBy transferSubject: String,
        to subject: String,
        privateEmail: String? = nil,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> SubjectMove {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.withTransaction(
            retries: 3,
            // A user who signed in meanwhile by a token without the identifier has the subject, and is found the next time.
            orAfter: { $0.isUniqueViolation(of: "provider_identities_pkey") },
            deadline: deadline
        ) { transaction in
            // The key of apple_transfers follows by itself. A caller that waits here for another one finds the subject changed, and does
            // nothing.
            let moved = try await transaction.execute(
                """
                UPDATE provider_identities known SET subject = \(subject), email = COALESCE(\(privateEmail), known.email),
                    is_email_told = known.is_email_told AND \(privateEmail) IS NULL,
                    is_email_verified = known.is_email_verified OR \(privateEmail) IS NOT NULL,
                    is_private_email = known.is_private_email OR \(privateEmail) IS NOT NULL,
                    is_email_unreachable = known.is_email_unreachable AND (\(privateEmail) IS NULL
                        OR \(privateEmail) IS NOT DISTINCT FROM known.email)
                FROM apple_transfers transfer
                WHERE transfer.transfer_sub = \(transferSubject) AND known.provider = 'apple'
                    AND known.subject = transfer.subject AND NOT EXISTS (
                        SELECT FROM provider_identities other
                        WHERE other.provider = 'apple' AND other.subject = \(subject)
                            AND other.subject <> transfer.subject)
                RETURNING user_id, from_team, to_team
                """
            ).first
            guard let (user, from, to) = try moved?.decode(PostgresUUID.self, String.self, String.self) else {
                let holder = try await transaction.query(
                    """
                    SELECT user_id FROM provider_identities WHERE provider = 'apple' AND subject = \(subject)
                        AND EXISTS (SELECT FROM apple_transfers WHERE transfer_sub = \(transferSubject))
                    """
                ).first
                return try holder.map { .taken(by: UserID(try $0.decode(0, as: PostgresUUID.self))) } ?? .gone
            }
            // A statement of its own: a caller that was keeping a token held the identity, and has committed by now.
            try await transaction.execute(
                """
                WITH forgotten AS (
                    DELETE FROM provider_grants WHERE user_id = \(user) AND provider = 'apple' AND state = 'kept'
                ), told AS (
                    INSERT INTO security_events (event_id, user_id, kind, occurred_at, details)
                    VALUES (security_event_id(\(now), false), \(user), \(SecurityEvent.providerNotice.rawValue), \(now),
                        jsonb_build_object('provider', 'apple', 'notice', 'team_transfer', 'from_team', \(from)::text,
                            'to_team', \(to)::text))
                )
                UPDATE apple_transfers SET transfer_sub = NULL, imported_at = \(now)
                WHERE transfer_sub = \(transferSubject)
                """
            )
            return .moved
        }
    }

    /// The same for a user whose token contains a transfer identifier. Nothing happens if no person is waited for by it.
    func moveSubject(of signIn: SignIn, nowMilliseconds: Int64, deadline: Deadline?) async throws {
        guard let transferSubject = signIn.transferSubject, signIn.provider == .apple,
            try await isTransferred(transferSubject, deadline: deadline)
        else { return }
        _ = try await moveSubject(
            transferredBy: transferSubject,
            to: signIn.subject,
            nowMilliseconds: nowMilliseconds,
            deadline: deadline
        )
    }

    // MARK: - Looking, forgetting

    /// The progress of each transfer, and the number of people with Apple identities.
    func transferCounts() async throws(PostgresError) -> (people: Int64, transfers: [TransferCounts]) {
        let people = try await database.query(
            "SELECT count(*) FROM provider_identities WHERE provider = 'apple'",
            deadline: .after(Self.transferStatementLimit)
        ).first?.decode(0, as: Int64.self)
        let rows = try await database.query(
            """
            SELECT from_team, to_team, count(*) FILTER (WHERE imported_at IS NULL), count(imported_at)
            FROM apple_transfers GROUP BY 1, 2 ORDER BY 1, 2
            """,
            deadline: .after(Self.transferStatementLimit)
        )
        var counts: [TransferCounts] = []
        for row in rows {
            let (from, to, waiting, imported) = try row.decode(String.self, String.self, Int64.self, Int64.self)
            counts.append(
                TransferCounts(transfer: TeamTransfer(from: from, to: to), waiting: waiting, imported: imported)
            )
        }
        return (people ?? 0, counts)
    }

    /// Forgets transfers that ended long ago, of at most `limit` people, and returns how many.
    func forgetTransfers(nowMilliseconds: Int64, limit: Int) async throws(PostgresError) -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.transferMilliseconds)
        let rows = try await database.execute(
            """
            DELETE FROM apple_transfers WHERE (provider, subject) IN (
                SELECT provider, subject FROM apple_transfers WHERE GREATEST(exported_at, imported_at) <= \(before)
                ORDER BY GREATEST(exported_at, imported_at) LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        )
        return rows.affected
    }
}

extension Rows {
    /// The people in rows with the columns account, subject and transfer identifier.
    fileprivate func people() throws(PostgresError) -> [TransferredPerson] {
        var people: [TransferredPerson] = []
        for row in self {
            let (user, subject, transferSubject) = try row.decode(PostgresUUID.self, String.self, String?.self)
            people.append(
                TransferredPerson(userID: UserID(user), subject: subject, transferSubject: transferSubject)
            )
        }
        return people
    }
}
