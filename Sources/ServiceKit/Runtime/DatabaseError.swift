import API
import Postgres
import RPC

extension RPCError {
    /// What callers are told about the database: that it is away (UNAVAILABLE with the reason DATABASE_UNAVAILABLE), or
    /// nothing. The cause is for the log.
    ///
    /// A client is told not to try again by itself (gRFC A6: `grpc-retry-pushback-ms` below zero): the pool has waited for
    /// a connection and repeated what may be repeated, and another try would do the same until the caller's deadline.
    public init(database error: PostgresError) {
        if error.isUnavailable {
            self = .domain(
                .unavailable,
                reason: "DATABASE_UNAVAILABLE",
                message: "The service cannot reach its database now. Try again in a moment.",
                retryAfter: .seconds(1),
                cause: error
            )
            metadata.add("grpc-retry-pushback-ms", "-1")
        } else if case .cancelled = error {
            self.init(.cancelled, "the call was cancelled", cause: error)
        } else {
            self.init(.internalError, "internal error", cause: error)
        }
    }
}
