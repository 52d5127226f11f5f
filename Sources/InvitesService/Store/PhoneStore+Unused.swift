import InvitesDomain
import Models
import Postgres
import ServiceKit
import ServiceModels
import Synchronization

/// Numbers that nobody has and nobody waits for: nothing is kept of them. Whatever takes the last who waited for a number forgets it.
extension PhoneStore {
    /// Forgets numbers that nobody has and nobody waits for any more. A number that somebody else has locked is left alone, so that
    /// nobody is waited for whatever is locked here.
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

    /// Forgets those of the numbers in the first column of rows that nobody has and nobody waits for any more.
    static func forgetUnused(_ rows: Rows, in transaction: PostgresTransaction) async throws {
        let phones = try rows.compactMap { try $0.decode(0, as: String?.self).flatMap(PhoneNumber.init(stored:)) }
        try await forgetUnused(phones, in: transaction)
    }
}

/// Looks through the numbers that nobody has, for those that nobody waits for: what was left by a number that was locked elsewhere in the
/// moment when it was to be forgotten, and by the versions before. A part each round, from where the round before ended.
final class UnusedPhones: Sendable {
    /// How many numbers one statement looks at.
    static let lookMax = 5_000
    /// How many such statements there are in a round: with a round each ten minutes some three million numbers a day.
    static let looksMax = 4

    private let database: PostgresClient
    /// The last number that was looked at.
    private let last = Mutex("")

    init(database: PostgresClient) { self.database = database }

    /// Forgets those of the next numbers, and tells how many they were.
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
