import Postgres

/// Tries a transaction again that lost a race which PostgreSQL could only end with an error.
///
/// Two numbers of one user can be linked to one group at the same moment, in transactions that hold different locks;
/// then the second to insert meets the first's row in `members_user`. Trying again finds that row and agrees with it.
enum ConflictRetry {
    /// How often a transaction is tried in all.
    static let triesMax = 5

    /// Runs `body`, which must be a whole transaction, until it isn't disturbed, at most ``triesMax`` times.
    static func run<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        for _ in 1..<triesMax {
            do {
                return try await body()
            } catch let error as PostgresError where isConflict(error) {
                continue
            }
        }
        return try await body()
    }

    private static func isConflict(_ error: PostgresError) -> Bool {
        error.isRetryableConflict || error.isUniqueViolation(of: "members_user")
            || error.isUniqueViolation(of: "members_pending_phone")
    }
}
