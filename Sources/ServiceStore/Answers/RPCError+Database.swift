import API
import Postgres
import RPC
import ServiceKit

extension PostgresError: AnswerableError {
    /// The response to callers for an error of the database: `RPCError.init(database:mayBeRepeated:)`.
    public func rpcError(mayBeRepeated: Bool) -> RPCError { RPCError(database: self, mayBeRepeated: mayBeRepeated) }
}

extension RPCError {
    /// The response to callers for an error of the database, without internals. The cause is for the log.
    ///
    /// - It is away or takes no writes, and nothing was done: UNAVAILABLE with the reason DATABASE_UNAVAILABLE.
    /// - The deadline passed, and nothing was done: DEADLINE_EXCEEDED with the reason DATABASE_TIMEOUT.
    /// - It may have been done, or not: DEADLINE_EXCEEDED or, if the connection broke, UNKNOWN, with the reason
    ///   OUTCOME_UNKNOWN and without a time to wait, so that nobody does a thing twice by trying again. If the operation
    ///   may be repeated, it is returned as one of the two above, since a retry finds out.
    ///
    /// The response asks clients not to retry by themselves (gRFC A6: `grpc-retry-pushback-ms` below zero): the pool has waited for
    /// a connection and repeated what may be repeated, and another try would do the same until the caller's deadline.
    /// A write that was under way when its connection broke is what the pool never repeats: if it may be repeated, the
    /// client is left to do so.
    ///
    /// - Parameter mayBeRepeated: whether the whole operation has the effect of one however often it is done.
    public init(database error: PostgresError, mayBeRepeated: Bool = false) {
        let isUnknown = error.isOutcomeUnknown && !mayBeRepeated
        switch error {
        case .timeout:
            self = .domain(
                .deadlineExceeded,
                reason: isUnknown ? Self.outcomeUnknown : "DATABASE_TIMEOUT",
                message: isUnknown ? Self.outcomeUnknownMessage : "The database took too long. Try again in a moment.",
                retryAfter: isUnknown ? nil : .seconds(1),
                cause: error
            )
            refuseRetries()
        case .connectionLost where isUnknown:
            self = .domain(
                .unknown,
                reason: Self.outcomeUnknown,
                message: Self.outcomeUnknownMessage,
                cause: error
            )
            refuseRetries()
        case _ where error.isUnavailable:
            self = .domain(
                .unavailable,
                reason: "DATABASE_UNAVAILABLE",
                message: error.isRefusedWrite
                    ? "The service's database takes no writes now. Try again in a moment."
                    : "The service cannot reach its database now. Try again in a moment.",
                retryAfter: .seconds(1),
                cause: error
            )
            if !error.isOutcomeUnknown { refuseRetries() }
        case .cancelled:
            self.init(.cancelled, "the call was cancelled", cause: error)
        default:
            self.init(.internalError, "internal error", cause: error)
        }
    }

    private static var outcomeUnknown: String { "OUTCOME_UNKNOWN" }
    private static var outcomeUnknownMessage: String {
        "It is not known whether this was done. Look before you try again."
    }

    private mutating func refuseRetries() { metadata.add("grpc-retry-pushback-ms", "-1") }
}
