import API
import RPC

/// Thrown by work that will never succeed, however often it is tried: it is parked.
public struct WorkRejection: Error, Sendable, Hashable {
    /// Why, as a stable word without personal data.
    public let reason: String

    /// A rejection.
    public init(reason: String) { self.reason = reason }
}

/// Thrown by work that failed because of these items, or took too long for them: fewer at once may succeed, and an item that fails
/// alone is retried after growing waits. (Any other error means that nothing of the queue can be done now.)
public struct WorkSetback: Error, Sendable {
    /// Why, as a stable word without personal data.
    public let reason: String
    /// For the log.
    public let cause: any Error
    /// Whether the item may be at fault. One that isn't is retried without end, and never parked.
    public let isItemAtFault: Bool
    /// The shortest wait before the next try, as a receiver asked for it.
    public let pause: Duration

    /// A setback.
    public init(reason: String, cause: any Error, isItemAtFault: Bool = true, pause: Duration = .zero) {
        self.reason = reason
        self.cause = cause
        self.isItemAtFault = isItemAtFault
        self.pause = pause
    }

    /// A setback of work that must never be parked. Nil if the error says nothing of the items.
    public init?(neverParked error: RPCError) {
        switch error.workFailure {
        case let rejection as WorkRejection: self.init(reason: rejection.reason, cause: error, isItemAtFault: false)
        case let setback as WorkSetback: self.init(reason: setback.reason, cause: error, isItemAtFault: false)
        default: return nil
        }
    }
}

extension RPCError {
    /// What a failed call means for the work that made it: `WorkRejection` if the receiver will never accept it, `WorkSetback` if it
    /// failed on it or took too long, and the error itself if the receiver is unavailable to all callers.
    public var workFailure: any Error {
        switch code {
        case .invalidArgument: WorkRejection(reason: reason ?? "INVALID_ARGUMENT")
        case .internalError, .unknown, .dataLoss, .deadlineExceeded, .aborted, .failedPrecondition, .notFound,
            .alreadyExists, .outOfRange:
            WorkSetback(
                reason: reason ?? code.description,
                cause: self,
                // A receiver that is slow for all items is no reason to park the oldest of them.
                isItemAtFault: code != .deadlineExceeded
            )
        // These codes concern all items alike: parking them one after the other would mend nothing.
        case .ok, .unavailable, .cancelled, .resourceExhausted, .unauthenticated, .permissionDenied, .unimplemented:
            self
        }
    }
}
