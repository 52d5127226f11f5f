import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels
import ServiceStore

/// Users whose accounts were closed, and how far they are forgotten, in PostgreSQL.
///
/// A closing is a row of `closed_accounts` until `swept_at` is set. That row comes first, in a short transaction: from then on nobody
/// makes the user a member. What there is of them is forgotten group by group, in short transactions behind it, which go on after a crash.
struct AccountStore: Sendable {
    /// For how long it is known whose accounts were closed: much longer than an event of profile waits.
    static let closedAccountMilliseconds: Int64 = 60 * 86_400_000
    /// How long after a closing is looked for what was under way in that moment: longer than any transaction takes.
    static let sweepMilliseconds: Int64 = 60_000
    /// For how long a closing is left to whoever works on it: longer than ``ClosingRunner`` works on one at a time.
    static let leaseMilliseconds: Int64 = 60_000
    /// The longest wait before a closing is tried again that failed.
    static let postponedMillisecondsMax: Int64 = 600_000
    /// Who has added a member whose account was closed since: nobody.
    static let nobody = PostgresUUID(high: 0, low: 0)
    /// The same as SQL; not as it is written elsewhere, since statements stand in traces, where no id of a person may be.
    static let nobodySQL = "lpad('', 32, '0')::uuid"

    let database: PostgresClient

    /// Writes down that an account is closed, and has its numbers be nobody's, in one short transaction. What else there is of the user
    /// is forgotten by ``forget(_:until:)``.
    ///
    /// Locks are taken in the order that all others keep: the user's lock, by which those who link wait, then the user's numbers, by which
    /// those who add wait. So whoever links or adds the user comes before, and is seen by what forgets the user, or after, and finds the
    /// account closed and its numbers nobody's. A transaction that began before and doesn't see that the account is closed may still make
    /// the user a group: it is found a minute later, when the user is forgotten once more.
    ///
    /// - Parameter clock: read behind the locks: however long these are waited for, it is a minute from the closing.
    func close(_ userID: UserID, clock: WallClock, deadline: Deadline?) async throws {
        try await database.withTransaction(
            retries: ConflictRetry.retriesMax,
            deadline: deadline
        ) { transaction in
            try await UserLocks.lock(userID, in: transaction)
            try await release(numbersOf: userID, in: transaction)
            let nowMilliseconds = clock.nowMilliseconds
            let now = PostgresTimestamp(milliseconds: nowMilliseconds)
            let leaseEnd = PostgresTimestamp(milliseconds: nowMilliseconds + Self.leaseMilliseconds)
            try await transaction.execute(
                """
                WITH released AS (DELETE FROM held_accounts WHERE user_id = \(userID.uuid))
                INSERT INTO closed_accounts (user_id, closed_at, due_at) VALUES (\(userID.uuid), \(now), \(leaseEnd))
                ON CONFLICT (user_id) DO NOTHING
                """
            )
        }
    }

    /// The numbers that profile has told to be the user's are nobody's; its release comes later, and finds them so.
    private func release(numbersOf userID: UserID, in transaction: PostgresTransaction) async throws {
        let rows = try await transaction.execute(
            """
            WITH theirs AS MATERIALIZED (
                SELECT phone FROM phones WHERE user_id = \(userID.uuid) ORDER BY phone COLLATE "C" FOR UPDATE
            )
            UPDATE phones SET user_id = NULL FROM theirs WHERE phones.phone = theirs.phone RETURNING phones.phone
            """
        )
        try await PhoneStore.forgetUnused(rows, in: transaction)
    }

    // MARK: - The line of closings

    /// Takes the closing that is due for longest; nil if none is. Nobody else takes it within ``leaseMilliseconds``.
    func takeClosing(nowMilliseconds: Int64) async throws -> UserID? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let leaseEnd = PostgresTimestamp(milliseconds: nowMilliseconds + Self.leaseMilliseconds)
        let rows = try await database.execute(
            """
            UPDATE closed_accounts SET due_at = \(leaseEnd) WHERE user_id = (
                SELECT user_id FROM closed_accounts WHERE swept_at IS NULL AND due_at <= \(now)
                ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING user_id
            """
        )
        return try rows.first.map { UserID(try $0.decode(0, as: PostgresUUID.self)) }
    }

    /// Puts a closing at the end of the line: all of it is forgotten, which is looked at once more a minute after the closing and is done
    /// then; or there is more to forget; or it failed, and waits twice as long each time.
    ///
    /// - Parameter beganAtMilliseconds: when it was begun to forget the user this time.
    func putBack(
        _ userID: UserID,
        _ outcome: ClosingOutcome,
        beganAtMilliseconds: Int64,
        nowMilliseconds: Int64,
        deadline: Deadline
    ) async throws {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let sweptFrom = PostgresTimestamp(milliseconds: beganAtMilliseconds - Self.sweepMilliseconds)
        let change: Query =
            switch outcome {
            case .forgotten:
                """
                UPDATE closed_accounts SET tries = 0, due_at = closed_at + \(Self.sweepMilliseconds) * interval '1 millisecond',
                    swept_at = CASE WHEN closed_at <= \(sweptFrom) THEN \(now) END
                WHERE user_id = \(userID.uuid) AND swept_at IS NULL
                """
            case .unfinished:
                """
                UPDATE closed_accounts SET tries = 0, due_at = \(now)
                WHERE user_id = \(userID.uuid) AND swept_at IS NULL
                """
            case .failed:
                """
                UPDATE closed_accounts SET tries = LEAST(tries + 1, 1000),
                    due_at = \(now) + LEAST(\(Self.postponedMillisecondsMax), 5000 * 2 ^ LEAST(tries, 20)) * interval '1 millisecond'
                WHERE user_id = \(userID.uuid) AND swept_at IS NULL
                """
            }
        try await database.execute(change, deadline: deadline)
    }

    /// What waits: since when the oldest closing does that isn't done, and the oldest hold of an absorption, in Unix milliseconds.
    func backlog() async throws -> AccountBacklog {
        let row = try await database.query(
            """
            SELECT (SELECT count(*) FROM closed_accounts WHERE swept_at IS NULL),
                (SELECT min(closed_at) FROM closed_accounts WHERE swept_at IS NULL), (SELECT min(held_at) FROM held_accounts)
            """
        )[0]
        let (count, closedAt, heldAt) = try row.decode(Int64.self, PostgresTimestamp?.self, PostgresTimestamp?.self)
        return AccountBacklog(
            closings: count,
            oldestClosingMilliseconds: closedAt?.milliseconds,
            oldestHoldMilliseconds: heldAt?.milliseconds
        )
    }

    /// Forgets which accounts were closed long ago, at most `limit` of them, and tells how many.
    func forgetClosedAccounts(nowMilliseconds: Int64, limit: Int) async throws -> Int {
        let before = PostgresTimestamp(milliseconds: nowMilliseconds - Self.closedAccountMilliseconds)
        return try await database.execute(
            """
            DELETE FROM closed_accounts WHERE user_id IN (
                SELECT user_id FROM closed_accounts WHERE closed_at <= \(before) AND swept_at IS NOT NULL
                ORDER BY closed_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        ).affected
    }
}

/// How far a user was forgotten.
enum ClosingOutcome: Sendable, Hashable {
    /// Nothing is left.
    case forgotten
    /// The time was over: there is more.
    case unfinished
    /// Something could not be forgotten.
    case failed
}

/// What waits to be forgotten or decided.
struct AccountBacklog: Sendable, Hashable {
    /// How many closings aren't done.
    var closings: Int64 = 0
    /// Since when the oldest of them waits.
    var oldestClosingMilliseconds: Int64?
    /// Since when the oldest hold of an absorption stands.
    var oldestHoldMilliseconds: Int64?
}
