import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels
import Synchronization

/// Unused numbers, which no user has and no group awaits: nothing is kept of them. A call that removes the last waiting row of a number
/// deletes the number.
extension PhoneStore {
    /// Deletes numbers that no user has and no group awaits any more. A number that another transaction has locked is skipped, so that this
    /// never waits while it holds other locks.
    static func forgetUnused(_ phones: [PhoneNumber], in transaction: PostgresTransaction) async throws {
        guard !phones.isEmpty else { return }
        try await transaction.execute(
            """
            DELETE FROM phones WHERE phone IN (
                SELECT phone FROM phones p WHERE phone = ANY(\(phones.map(\.digits))) AND user_id IS NULL
                    AND NOT EXISTS (SELECT FROM members m WHERE m.phone = p.phone AND m.user_id IS NULL)
                FOR UPDATE SKIP LOCKED
            )
            """
        )
    }

    /// Deletes the unused numbers among those in the first column of rows.
    static func forgetUnused(_ rows: Rows, in transaction: PostgresTransaction) async throws {
        let phones = try rows.compactMap { try $0.decode(0, as: String?.self).flatMap(PhoneNumber.init(stored:)) }
        try await forgetUnused(phones, in: transaction)
    }
}

/// Searches the numbers without a user for unused ones, which were locked elsewhere when they were to be deleted. Each round checks a
/// part, from where the previous round ended.
final class UnusedPhones: Sendable {
    /// How many numbers one statement checks.
    static let lookMax = 5_000
    /// How many such statements a round has: with a round every ten minutes some three million numbers a day.
    static let looksMax = 4

    private let database: PostgresClient
    /// The last number that was checked.
    private let last = Mutex("")

    init(database: PostgresClient) { self.database = database }

    /// Deletes the unused ones of the next numbers, and returns how many.
    func forget() async throws -> Int {
        var count = 0
        for _ in 0..<Self.looksMax {
            let (looked, end, forgotten) = try await look(after: last.withLock { $0 })
            count += forgotten
            last.withLock { $0 = looked == Self.lookMax ? end ?? "" : "" }
            if looked < Self.lookMax { break }
        }
        return count
    }

    private func look(after: String) async throws -> (looked: Int, end: String?, forgotten: Int) {
        let row = try await database.execute(
            """
            WITH looked AS MATERIALIZED (
                SELECT phone FROM phones WHERE user_id IS NULL AND phone > \(after) ORDER BY phone LIMIT \(Self.lookMax)
            ), forgotten AS (
                DELETE FROM phones WHERE phone IN (
                    SELECT phone FROM phones p WHERE phone IN (SELECT phone FROM looked) AND user_id IS NULL
                        AND NOT EXISTS (SELECT FROM members m WHERE m.phone = p.phone AND m.user_id IS NULL)
                    FOR UPDATE SKIP LOCKED)
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM looked), (SELECT max(phone) FROM looked), (SELECT count(*) FROM forgotten)
            """
        )[0]
        let (looked, end, forgotten) = try row.decode(Int64.self, String?.self, Int64.self)
        return (Int(looked), end, Int(forgotten))
    }
}
