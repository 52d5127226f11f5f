import API
import IdentityDomain
import RPC
import ServiceKit

extension LinkRefusal {
    /// The error that callers get.
    var rpcError: RPCError {
        switch self {
        case .providerAlreadyLinked:
            .domain(
                .alreadyExists,
                reason: "PROVIDER_ALREADY_LINKED",
                message: "The account has another identity of this provider. Unlink it first."
            )
        case .identityTaken:
            .domain(.alreadyExists, reason: "IDENTITY_TAKEN", message: "This identity opens another account.")
        case .absorptionUnderWay:
            .domain(
                .unavailable,
                reason: "ACCOUNT_HELD",
                message: "The account is being changed. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .lastProvider:
            .domain(
                .failedPrecondition,
                reason: "LAST_PROVIDER",
                message: "This is the last provider that the account can be signed in to with."
            )
        }
    }
    /// The error for a caller whose provider was linked too recently to replace an older one.
    static func linkedTooRecently(waitSeconds: Int64) -> RPCError {
        let hours = (waitSeconds + 3_599) / 3_600
        return .domain(
            .permissionDenied,
            reason: "PROVIDER_LINKED_TOO_RECENTLY",
            message: "A provider that was linked less than a day ago can't take the place of an older one yet. "
                + "Try again in \(hours == 1 ? "an hour" : "\(hours) hours").",
            retryAfter: .seconds(waitSeconds)
        )
    }
}
