import API
import RPC
import ServiceKit

/// Why a call is not answered on anybody's behalf.
public enum CallerProofError: DomainError, Hashable {
    /// It brought no proof.
    case missing
    /// What it brought is no proof, or one of another version, or under a key that is not known here.
    case malformed
    /// What it brought is not identity's proof to this service.
    case forged
    /// What it brought is not of this minute or the one before.
    case expired

    /// The error for callers. They are gateways: a user's token has nothing to do with it.
    public var rpcError: RPCError {
        switch self {
        case .missing:
            .domain(
                .unauthenticated,
                reason: "CALLER_PROOF_REQUIRED",
                message: "The call needs a proof of the person who makes it."
            )
        case .malformed, .forged:
            .domain(.unauthenticated, reason: "CALLER_PROOF_INVALID", message: "The proof of the caller is not valid.")
        case .expired:
            .domain(
                .unauthenticated,
                reason: "CALLER_PROOF_EXPIRED",
                message: "The proof of the caller is not of this minute or the one before."
            )
        }
    }
}
