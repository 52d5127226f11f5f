import Postgres

/// When a transaction that lost a race, which PostgreSQL could only end with an error, is run again.
///
/// Two numbers of one user can be linked to one group at the same moment, in transactions that hold different locks;
/// then the second to insert meets the first's row in `members_user`. Trying again finds that row and agrees with it.
enum ConflictRetry {
    /// How often a transaction is tried again.
    static let retriesMax = 4
    /// How often a transaction begins anew that lost a race. Each try waits for whoever won it, so that many of them are no load; a group
    /// to which several add at once loses a few in a row.
    static let racesMax = 32

    /// What a transaction found out before it could lock it was changed meanwhile: it begins anew.
    struct LostRace: Error {}

    /// Whether a violation came of such a race.
    static func isRace(_ error: PostgresError) -> Bool {
        error.isUniqueViolation(of: "members_user") || error.isUniqueViolation(of: "members_pending_phone")
    }

    /// Runs a transaction, anew whenever it lost a race.
    ///
    /// - Throws: `PostgresError.unavailable` if it lost each of them.
    static func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        for _ in 0..<racesMax {
            do { return try await body() } catch is LostRace { continue }
        }
        do { return try await body() } catch let error as LostRace {
            throw PostgresError.unavailable("\(error)")
        }
    }
}
