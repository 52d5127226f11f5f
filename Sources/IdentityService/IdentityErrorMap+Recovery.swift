import API
import IdentityDomain
import RPC

extension RecoveryRefusal {
    /// The error that callers get.
    var rpcError: RPCError {
        switch self {
        case .invalid:
            .domain(
                .unauthenticated,
                reason: "RECOVERY_CODE_INVALID",
                message: "The recovery code is wrong, or was used before."
            )
        case .tooManyAttempts(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "There were too many tries with recovery codes. Please try again later.",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        }
    }
}
