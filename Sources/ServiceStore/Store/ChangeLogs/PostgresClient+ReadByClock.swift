import Postgres
import RPC

extension PostgresClient {
    /// Runs a query of a log that is read by its clock. A serializable one would conflict with all writers of the log; this one sees
    /// what is committed, and finds the rest later.
    package func readByClock(_ query: Query, deadline: Deadline? = nil) async throws -> Rows {
        try await withTransaction(isolation: .readOnly, deadline: deadline) { try await $0.query(query) }
    }
}
