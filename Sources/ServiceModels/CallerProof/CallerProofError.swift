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
    /// It is a guest's, and the method is for users with an account that a provider opens.
    case guest

    /// The error for callers. They are gateways: but for guests a user's token has nothing to do with it.
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
        case .guest: .guestNotAllowed
        }
    }
}

extension RPCError {
    /// The error of an act that guests may not perform.
    public static var guestNotAllowed: RPCError {
        .domain(
            .permissionDenied,
            reason: "GUEST_NOT_ALLOWED",
            message: "A guest may not do this. Link a provider to the account first."
        )
    }
}
