import API
import RPC

extension RPCError {
    /// What a failed call means to a relay: `OutboxRejection` if the receiver will never take what it was told, `OutboxSetback` if
    /// it failed on it or took too long, and the error itself if the receiver isn't there for anybody.
    public var outboxFailure: any Error {
        switch code {
        case .invalidArgument: OutboxRejection(reason: reason ?? "INVALID_ARGUMENT")
        case .internalError, .unknown, .dataLoss, .deadlineExceeded, .aborted, .failedPrecondition, .notFound,
            .alreadyExists, .outOfRange:
            OutboxSetback(
                reason: reason ?? code.description,
                cause: self,
                // Whoever takes too long for everybody's events is no reason to set aside the oldest of them.
                isEventAtFault: code != .deadlineExceeded
            )
        // What these say holds for all events alike: setting them aside one after the other would mend nothing.
        case .ok, .unavailable, .cancelled, .resourceExhausted, .unauthenticated, .permissionDenied, .unimplemented:
            self
        }
    }
}
