import LocalPostgres
import TestDatabases
import TestWaits
import Testing

extension TestDatabase {
    /// Waits until the server executes a statement of the service's role whose text is LIKE the pattern, or no longer does.
    func waitUntilActive(_ pattern: String, isActive: Bool = true) async throws {
        try await eventually("\(pattern) is \(isActive ? "" : "not ")executed") {
            let count = try cluster.runSQL(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE usename = '\(user)' AND query LIKE '\(pattern)' AND state = 'active';
                """
            )
            return (count != "0") == isActive
        }
    }
}
