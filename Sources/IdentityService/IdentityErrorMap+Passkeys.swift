import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension PasskeyRefusal {
    /// The error that callers get.
    var rpcError: RPCError {
        switch self {
        case .notEnabled:
            .domain(.failedPrecondition, reason: "PASSKEYS_NOT_ENABLED", message: "Passkeys are not enabled.")
        case .malformed:
            .domain(
                .invalidArgument,
                reason: "PASSKEY_MALFORMED",
                message: "The credential is not what WebAuthn's clients send.",
                field: "credential"
            )
        case .challengeUnknown, .rejected:
            .domain(
                .failedPrecondition,
                reason: "PASSKEY_REJECTED",
                message: "The passkey is not valid here: it answers another challenge, was made for another site, "
                    + "or its user was not verified."
            )
        case .challengeExpired:
            .domain(
                .failedPrecondition,
                reason: "PASSKEY_CHALLENGE_EXPIRED",
                message: "The challenge has expired. Ask for another one."
            )
        case .invalid:
            .domain(.unauthenticated, reason: "PASSKEY_INVALID", message: "The passkey's signature is not valid here.")
        case .unknown:
            .domain(.unauthenticated, reason: "PASSKEY_UNKNOWN", message: "No account has this passkey.")
        case .taken:
            .domain(.alreadyExists, reason: "PASSKEY_TAKEN", message: "Another account has this passkey.")
        case .notFound:
            .domain(.notFound, reason: "PASSKEY_NOT_FOUND", message: "The account has no such passkey.")
        case .tooMany:
            .domain(
                .failedPrecondition,
                reason: "TOO_MANY_PASSKEYS",
                message: "The account has as many passkeys as it may have. Remove one first."
            )
        case .nameInvalid(let fault):
            .domain(.invalidArgument, reason: "PASSKEY_NAME_INVALID", message: "The name \(fault.words)", field: "name")
        }
    }
}
