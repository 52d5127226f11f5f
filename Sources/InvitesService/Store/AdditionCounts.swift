import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels
import ServiceStore

/// Counts additions for the adder, and for the address of the call: one round trip for all counts.
///
/// The rows of the counts stay locked until the transaction ends, the user's before the address's, as everywhere. A count may exceed its
/// quota; ``waits(of:)`` returns which numbers are within it, and ``refund(_:codes:in:)`` takes back the rest.
struct AdditionCounts {
    /// How often something was counted, and when its window ends.
    private struct Count {
        let quota: Quota
        let subject: [UInt8]
        let amount: Int
        let granted: Int
        let waitMilliseconds: Int64
    }

    private let user: PostgresUUID
    private let counts: [Count]
    /// The numbers that the user didn't ask about before within the window.
    private let freshCodes: Set<[UInt8]>

    /// Counts additions.
    ///
    /// - Parameters:
    ///   - codes: the code of each number, all different; at least one.
    ///   - addressCode: the code of the address of the call; nil if unknown.
    init(
        _ codes: [[UInt8]],
        by userID: UserID,
        addressCode: [UInt8]?,
        limits: InvitesLimits,
        nowMilliseconds: Int64,
        in transaction: PostgresTransaction
    ) async throws {
        var quotas = [(limits.userAdds, userID.bytes), (limits.userNumbers, userID.bytes)]
        if let addressCode { quotas.append((limits.addressAdds, addressCode)) }
        let now = PostgresTimestamp(milliseconds: nowMilliseconds)
        let known = PostgresTimestamp(milliseconds: nowMilliseconds - limits.userNumbers.windowMilliseconds)
        let ends = quotas.map { PostgresTimestamp(milliseconds: nowMilliseconds + $0.0.windowMilliseconds) }
        // An end more than a window ahead comes from a wrong clock, and must not lock anybody out for that long.
        let rows = try await transaction.execute(
            """
            WITH asked AS (
                INSERT INTO asked_numbers AS a (user_id, number_code, asked_at)
                SELECT \(userID.uuid), code, \(now) FROM unnest(\(codes)) AS wanted (code) ORDER BY code
                ON CONFLICT (user_id, number_code) DO UPDATE SET asked_at = excluded.asked_at
                WHERE a.asked_at <= \(known) OR a.asked_at > \(now)
                RETURNING number_code
            ), wanted AS (
                SELECT subject, kind, position, ends_at,
                    CASE kind WHEN \(limits.userNumbers.kind) THEN (SELECT count(*) FROM asked) ELSE \(codes.count) END AS amount
                FROM unnest(\(quotas.map(\.1)), \(quotas.map(\.0.kind)), \(ends))
                    WITH ORDINALITY AS quota (subject, kind, ends_at, position)
            ), counted AS (
                INSERT INTO quotas AS q (subject, kind, count, ends_at)
                SELECT subject, kind, amount, ends_at FROM wanted WHERE amount > 0 ORDER BY position
                ON CONFLICT (subject, kind) DO UPDATE SET
                    count = CASE WHEN q.ends_at <= \(now) OR q.ends_at > excluded.ends_at + (excluded.ends_at - \(now))
                        THEN excluded.count ELSE least(q.count::bigint + excluded.count, \(Self.countMax)) END,
                    ends_at = CASE WHEN q.ends_at <= \(now) OR q.ends_at > excluded.ends_at + (excluded.ends_at - \(now))
                        THEN excluded.ends_at ELSE q.ends_at END
                RETURNING subject, kind, count, ends_at
            )
            SELECT kind, subject, count, ends_at FROM counted UNION ALL SELECT NULL, number_code, 0, \(now) FROM asked
            """
        )
        var fresh: Set<[UInt8]> = []
        var ended: [(kind: String, subject: [UInt8], count: Int, endsAt: Int64)] = []
        for row in rows {
            let (kind, bytes, count, endsAt) = try row.decode(
                String?.self,
                [UInt8].self,
                Int32.self,
                PostgresTimestamp.self
            )
            if let kind {
                ended.append((kind, bytes, Int(count), endsAt.milliseconds))
            } else {
                fresh.insert(bytes)
            }
        }
        user = userID.uuid
        freshCodes = fresh
        counts = quotas.compactMap { quota, subject in
            let row = ended.first { $0.kind == quota.kind && $0.subject == subject }
            guard let row else { return nil }
            let amount = quota == limits.userNumbers ? fresh.count : codes.count
            return Count(
                quota: quota,
                subject: subject,
                amount: amount,
                granted: min(max(quota.countMax - (row.count - amount), 0), amount),
                waitMilliseconds: min(max(row.endsAt - nowMilliseconds, 1), quota.windowMilliseconds)
            )
        }
        numbersKind = limits.userNumbers.kind
    }

    /// Far more than any quota allows; a count stops there.
    private static let countMax: Int64 = 2_000_000_000
    private let numbersKind: String

    /// For each number, in order: nil if it is within all quotas, else the milliseconds until it may be retried.
    func waits(of codes: [[UInt8]]) -> [Int64?] {
        var left = counts.map(\.granted)
        return codes.map { code in
            let concerned = counts.indices.filter { counts[$0].quota.kind != numbersKind || freshCodes.contains(code) }
            let waits = concerned.filter { left[$0] == 0 }.map { counts[$0].waitMilliseconds }
            if let longest = waits.max() { return longest }
            for index in concerned { left[index] -= 1 }
            return nil
        }
    }

    /// Takes back the counts of refused numbers, and forgets that the user asked about them. For a transaction that added or noted other
    /// people; a transaction that did nothing else is rolled back as a whole. A count that drops to zero is deleted.
    func refund(_ codes: [[UInt8]], in transaction: PostgresTransaction) async throws {
        let fresh = codes.filter(freshCodes.contains)
        let amounts = counts.map { $0.quota.kind == numbersKind ? fresh.count : codes.count }
        try await transaction.execute(
            """
            WITH unasked AS (
                DELETE FROM asked_numbers WHERE user_id = \(user) AND number_code = ANY(\(fresh))
            ), refused AS MATERIALIZED (
                SELECT * FROM unnest(\(counts.map(\.subject)), \(counts.map(\.quota.kind)), \(amounts))
                    AS refused (subject, kind, amount)
            ), uncounted AS (
                DELETE FROM quotas q USING refused
                WHERE q.subject = refused.subject AND q.kind = refused.kind AND q.count <= refused.amount
            )
            UPDATE quotas q SET count = q.count - refused.amount
            FROM refused WHERE q.subject = refused.subject AND q.kind = refused.kind AND q.count > refused.amount
            """
        )
    }
}

extension MemberStore {
    /// Deletes the numbers that were asked about by a time, at most `limit` of them, and returns how many. Waits for no lock.
    func forgetNumbers(askedByMilliseconds: Int64, limit: Int) async throws -> Int {
        let time = PostgresTimestamp(milliseconds: askedByMilliseconds)
        return try await database.execute(
            """
            DELETE FROM asked_numbers WHERE (user_id, number_code) IN (
                SELECT user_id, number_code FROM asked_numbers WHERE asked_at <= \(time)
                ORDER BY asked_at LIMIT \(limit) FOR UPDATE SKIP LOCKED
            )
            """
        ).affected
    }
}
