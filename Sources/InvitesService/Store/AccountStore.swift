import InvitesDomain
import Models
import Postgres
import RPC
import ServiceModels
import ServiceStore

/// Closed accounts, and how far their data is deleted, in PostgreSQL.
///
/// A closing is a row of `closed_accounts` until `swept_at` is set. That row is written first, in a short transaction: from then on the
/// user can't become a member. The user's data is deleted group by group, in short transactions after it, which resume after a crash.
struct AccountStore: Sendable {
    /// How long closed accounts are remembered: much longer than an event of profile waits.
    static let closedAccountMilliseconds: Int64 = 60 * 86_400_000
    /// How long after a closing the user is checked again for what was under way at that moment: longer than any transaction takes.
    static let sweepMilliseconds: Int64 = 60_000
    /// The lease of a closing: longer than ``ClosingRunner`` works on one at a time.
    static let leaseMilliseconds: Int64 = 60_000
    /// The longest wait before a failed closing is retried.
    static let postponedMillisecondsMax: Int64 = 600_000
    /// The adder of a member if the adder's account was closed since: nobody.
    static let nobody = PostgresUUID(high: 0, low: 0)
    /// The same as SQL; written differently than elsewhere, since statements appear in traces, which must not have ids of people.
    static let nobodySQL = "lpad('', 32, '0')::uuid"

    let database: PostgresClient

    /// Records that an account is closed, and releases its numbers, in one short transaction. The user's other data is deleted by
    /// ``forget(_:until:)``.
    ///
    /// Locks are taken in the same order as everywhere: the user's lock, for which calls that link wait, then the user's numbers, for which
    /// calls that add wait. So a call that links or adds the user comes before, and the deletion sees its result; or it comes after, and
    /// finds the account closed and its numbers free. A transaction that began before and doesn't see that the account is closed may still
    /// create a group for the user: the second deletion, a minute later, finds it.
    ///
    /// - Parameters:
    ///   - successor: the account that takes the user's place in groups; nil for none.
    ///   - clock: read after the locks are taken: however long they are waited for, the minute counts from the closing.
    func close(_ userID: UserID, successor: UserID? = nil, clock: WallClock, deadline: Deadline?) async throws {
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
                INSERT INTO closed_accounts (user_id, successor, closed_at, due_at)
                VALUES (\(userID.uuid), \(successor?.uuid), \(now), \(leaseEnd))
                ON CONFLICT (user_id) DO NOTHING
                """
            )
        }
    }

    /// Releases the numbers that are the user's according to profile; profile's release comes later, and finds them free.
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

    /// Takes the closing that has been due for longest; nil if none is due. Nobody else takes it within ``leaseMilliseconds``.
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

    /// Puts a closing at the end of the queue. If all data is deleted, it is checked once more a minute after the closing and is done then.
    /// If more data is left, it continues. If it failed, it waits twice as long each time.
    ///
    /// - Parameter beganAtMilliseconds: when this deletion of the user's data began.
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

    /// The backlog: the time of the oldest closing that isn't done, and of the oldest hold of an absorption, in Unix milliseconds.
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

    /// Deletes records of accounts that were closed long ago, at most `limit` of them, and returns how many.
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

/// How far the deletion of a user's data went.
enum ClosingOutcome: Sendable, Hashable {
    /// Nothing is left.
    case forgotten
    /// The time was over: more data is left.
    case unfinished
    /// Some data could not be deleted.
    case failed
}

/// Closings and holds that wait.
struct AccountBacklog: Sendable, Hashable {
    /// The number of closings that aren't done.
    var closings: Int64 = 0
    /// When the oldest of them began.
    var oldestClosingMilliseconds: Int64?
    /// When the oldest hold of an absorption began.
    var oldestHoldMilliseconds: Int64?
}
