import API
import IdentityDomain
import RPC
import ServiceKit

extension PhoneAssertionRejection {
    /// The error that callers get.
    var rpcError: RPCError {
        switch self {
        case .notConfigured:
            .domain(
                .notFound,
                reason: "PHONE_ASSERTIONS_NOT_CONFIGURED",
                message: "No backend's assertions of phone numbers are believed here."
            )
        case .invalid: .assertion("ASSERTION_INVALID", "The assertion can't be read, or isn't signed by a known key.")
        case .mismatched:
            .assertion(
                "ASSERTION_MISMATCHED",
                "The assertion is somebody else's, for somebody else or about another user."
            )
        case .expired:
            .assertion("ASSERTION_EXPIRED", "The assertion is not good now, or for longer than five minutes.")
        }
    }
}

extension PhoneProofRefusal {
    /// The error that callers get; for a taken number the same as profile's.
    var rpcError: RPCError {
        switch self {
        case .taken:
            .domain(
                .alreadyExists,
                reason: "PHONE_TAKEN",
                message: "This phone number is already associated with another account.",
                field: "phone_number"
            )
        case .notAllowed:
            .domain(
                .invalidArgument,
                reason: "PHONE_NOT_ALLOWED",
                message: "Such phone numbers are not taken here.",
                field: "phone_number"
            )
        case .accountOpened:
            .domain(
                .unauthenticated,
                reason: "ACCOUNT_OPENED",
                message: "The phone number has opened the person's old account. Sign in again to be in it."
            )
        }
    }
}

extension RPCError {
    fileprivate static func assertion(_ reason: String, _ message: String) -> RPCError {
        .domain(.invalidArgument, reason: reason, message: message, field: "assertion")
    }
}
