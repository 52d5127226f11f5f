import API
import IdentityDomain
import RPC
import ServiceKit
import ServiceModels

extension GuestRefusal {
    /// The error that callers get.
    var rpcError: RPCError {
        switch self {
        case .notEnabled:
            .domain(.failedPrecondition, reason: "GUESTS_NOT_ENABLED", message: "Guest accounts are not enabled.")
        case .notAllowed: .guestNotAllowed
        case .workRequired:
            .domain(.invalidArgument, reason: "WORK_REQUIRED", message: "A guest account needs a proof of work.")
        case .workInvalid:
            .domain(
                .invalidArgument,
                reason: "WORK_INVALID",
                message: "The proof of work answers no challenge of ours, or not with enough work."
            )
        case .workExpired:
            .domain(
                .failedPrecondition,
                reason: "WORK_EXPIRED",
                message: "The challenge of the proof of work has expired. Ask for another one."
            )
        case .workSpent:
            .domain(
                .failedPrecondition,
                reason: "WORK_SPENT",
                message: "The challenge of the proof of work was used before. Ask for another one."
            )
        case .tooMany(let retryAfterMilliseconds, _):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_GUESTS",
                message: "There were too many new guests. Please try again later.",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .outcomeMissing:
            .domain(
                .invalidArgument,
                reason: "GUEST_INVALID",
                message: "It must say what becomes of the guest account.",
                field: "guest"
            )
        case .tokenInvalid:
            .domain(.invalidArgument, reason: "GUEST_TOKEN_INVALID", message: "The token is no live token of a guest.")
        }
    }
}
