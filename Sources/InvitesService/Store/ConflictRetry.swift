import Postgres

/// When to retry a transaction that lost a race, which PostgreSQL could only end with an error.
///
/// Two numbers of one user can be linked to one group at the same moment, in transactions that hold different locks;
/// then the second to insert meets the first's row in `members_user`. Trying again finds that row and agrees with it.
enum ConflictRetry {
    /// The maximum of retries of a transaction.
    static let retriesMax = 4
    /// How often a transaction that lost a race restarts. Each try waits for the winner, so that many tries are no load; a group to which
    /// several users add at once loses a few in a row.
    static let racesMax = 32

    /// What a transaction read before it could lock it has changed meanwhile: it restarts.
    struct LostRace: Error {}

    /// Returns whether such a race caused a violation.
    static func isRace(_ error: PostgresError) -> Bool {
        error.isUniqueViolation(of: "members_user") || error.isUniqueViolation(of: "members_pending_phone")
    }

    /// Runs a transaction, and restarts it whenever it lost a race.
    ///
    /// - Throws: `PostgresError.unavailable` if every try lost its race.
    static func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 0..<racesMax {
            do { return try await body() } catch is LostRace { continue }
        }
        do { return try await body() } catch let error as LostRace {
            throw PostgresError.unavailable("\(error)")
        }
    }
}
