import Postgres
import RPC
import ServiceKit

/// The counts of quotas in PostgreSQL, in a table of the service's own schema.
///
/// A count's row is locked until the transaction ends, and strangers may share one: all who come from one address. So it
/// is the last thing that a transaction locks, and several are taken in the same order by everyone (a user's before an
/// address's): the holder of one waits only for the next in that order, so there is no deadlock.
///
/// How many rows there are is bounded by the quotas themselves: a row comes with something that was allowed or that counts
/// as a try, each user may do only so many of these within a window, and rows go when their window is over.
public enum QuotaStore {
    /// The table, for a migration.
    public static let table = """
        CREATE TABLE quotas (
            subject bytea NOT NULL CHECK (octet_length(subject) BETWEEN 16 AND 32),
            kind text NOT NULL,
            count integer NOT NULL CHECK (count > 0),
            ends_at timestamptz NOT NULL,
            PRIMARY KEY (subject, kind)
        );

        CREATE INDEX quotas_ends_at ON quotas (ends_at);
        """

    /// Counts one more for a subject, and keeps its row locked until the transaction ends.
    ///
    /// - Parameters:
    ///   - subject: whom it is counted for: the 16 bytes of an id, or a code of an address.
    ///   - nowMilliseconds: now, in Unix milliseconds.
    /// - Returns: nil if it was counted; else nothing was, and this many milliseconds are left until it may be.
    public static func spend(
        _ quota: Quota,
        of subject: [UInt8],
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Int64? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let end = PostgresTimestamp(milliseconds: nowMilliseconds + quota.windowMilliseconds)
        // Later than any right clock has written, so that one that was wrong locks nobody out for as long as it was.
        let far = PostgresTimestamp(milliseconds: nowMilliseconds + 2 * quota.windowMilliseconds)
        let counted = try await transaction.execute(
            """
            INSERT INTO quotas AS q (subject, kind, count, ends_at) VALUES (\(subject), \(quota.kind), 1, \(end))
            ON CONFLICT (subject, kind) DO UPDATE SET
                count = CASE WHEN q.ends_at <= \(now) OR q.ends_at > \(far) THEN 1 ELSE q.count + 1 END,
                ends_at = CASE WHEN q.ends_at <= \(now) OR q.ends_at > \(far) THEN excluded.ends_at ELSE q.ends_at END
            WHERE q.ends_at <= \(now) OR q.ends_at > \(far) OR q.count < \(Int32(clamping: quota.countMax))
            """
        )
        guard counted.affected == 0 else { return nil }
        // Locked by the statement before, though it changed nothing, and so still there.
        let rows = try await transaction.query(
            "SELECT ends_at FROM quotas WHERE subject = \(subject) AND kind = \(quota.kind)"
        )
        let endsAt = try rows.first?.decode(0, as: PostgresTimestamp.self).milliseconds ?? 0
        // At least 1 and at most a window, also when the clock went back since the count began.
        return min(max(endsAt - nowMilliseconds, 1), quota.windowMilliseconds)
    }

    /// Locks the row of a subject's count until the transaction ends, and counts nothing: who counts at this moment comes before, or
    /// waits.
    public static func lock(
        _ quota: Quota,
        of subject: [UInt8],
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        // A row that is new is over, and so counts nothing.
        try await transaction.execute(
            """
            INSERT INTO quotas AS q (subject, kind, count, ends_at)
            VALUES (\(subject), \(quota.kind), 1, \(PostgresTimestamp(milliseconds: nowMilliseconds)))
            ON CONFLICT (subject, kind) DO UPDATE SET count = q.count
            """
        )
    }

    /// How many milliseconds a subject must wait until one more may be counted; nil if it may be now. Counts nothing and
    /// locks nothing: for what must be refused before anything else is known.
    public static func wait(
        _ quota: Quota,
        of subject: [UInt8],
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws -> Int64? {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let far = PostgresTimestamp(milliseconds: nowMilliseconds + 2 * quota.windowMilliseconds)
        let rows = try await transaction.query(
            """
            SELECT ends_at FROM quotas WHERE subject = \(subject) AND kind = \(quota.kind)
            AND count >= \(Int32(clamping: quota.countMax)) AND ends_at > \(now) AND ends_at <= \(far)
            """
        )
        guard let row = rows.first else { return nil }
        let endsAt = try row.decode(0, as: PostgresTimestamp.self).milliseconds
        return min(max(endsAt - nowMilliseconds, 1), quota.windowMilliseconds)
    }

    /// How many are counted for a subject in the window that is open now; 0 if none is. Locks nothing.
    public static func count(
        _ quota: Quota,
        of subject: [UInt8],
        nowMilliseconds: Int64,
        in database: PostgresClient,
        deadline: Deadline?
    ) async throws -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let far = PostgresTimestamp(milliseconds: nowMilliseconds + 2 * quota.windowMilliseconds)
        let rows = try await database.query(
            """
            SELECT count FROM quotas
            WHERE subject = \(subject) AND kind = \(quota.kind) AND ends_at > \(now) AND ends_at <= \(far)
            """,
            deadline: deadline
        )
        return Int(try rows.first?.decode(0, as: Int32.self) ?? 0)
    }

    /// Forgets all counts of a subject. In transactions it comes last, as counting does.
    public static func forget(subject: [UInt8], in transaction: PostgresTransaction) async throws {
        try await transaction.execute("DELETE FROM quotas WHERE subject = \(subject)")
    }

    /// Forgets counts whose window is over, at most `limit` of them, and tells how many. Waits for nobody.
    public static func forget(
        endedBy nowMilliseconds: Int64,
        limit: Int,
        in database: PostgresClient
    ) async throws -> Int {
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        return try await database.execute(
            """
            DELETE FROM quotas WHERE (subject, kind) IN (
                SELECT subject, kind FROM quotas WHERE ends_at <= \(now)
                ORDER BY ends_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            """
        ).affected
    }
}
