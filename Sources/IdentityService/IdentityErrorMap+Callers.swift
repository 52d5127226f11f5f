import API
import IdentityDomain
import RPC
import ServiceKit

extension OperatorRefusal {
    /// The error that operators get.
    var rpcError: RPCError {
        switch self {
        case .notAnOperator:
            .domain(.permissionDenied, reason: "OPERATOR_REQUIRED", message: "This is for operators alone.")
        case .accountUnnamed:
            .domain(.invalidArgument, reason: "ACCOUNT_UNNAMED", message: "Say which account is meant.")
        case .emailInvalid:
            .domain(.invalidArgument, reason: "EMAIL_INVALID", message: "This is no e-mail address.", field: "email")
        case .reasonInvalid:
            .domain(
                .invalidArgument,
                reason: "BLOCK_REASON_INVALID",
                message: "The reason must be a word of 1 to 64 letters a to z and underscores.",
                field: "reason"
            )
        case .pageSizeInvalid:
            .domain(
                .invalidArgument,
                reason: "PAGE_SIZE_INVALID",
                message: "The page size must be 1 to 200.",
                field: "page_size"
            )
        case .cursorInvalid:
            .domain(
                .invalidArgument,
                reason: "INVALID_CURSOR",
                message: "The page token must be that of the page before, of the same account.",
                field: "page_token"
            )
        case .profileUnavailable:
            .domain(
                .unavailable,
                reason: "PROFILE_UNAVAILABLE",
                message: "Profile, which has the phone numbers, cannot be asked now. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .groupsUnavailable:
            .domain(
                .unavailable,
                reason: "UNAVAILABLE",
                message: "Invites, which has the groups, cannot be asked now. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .accountNotOpenable:
            .domain(
                .failedPrecondition,
                reason: "ACCOUNT_NOT_OPENABLE",
                message: "The account was not imported, or somebody can sign in to it.",
                field: "user_id"
            )
        case .accountNotAbsorbable:
            .domain(
                .failedPrecondition,
                reason: "ACCOUNT_NOT_ABSORBABLE",
                message: "The other account is not empty, or has a provider that cannot open an account.",
                field: "for_user_id"
            )
        }
    }
}

extension EventRefusal {
    /// The error that another service gets.
    var rpcError: RPCError {
        switch self {
        case .invalid:
            .domain(
                .invalidArgument,
                reason: "EVENT_INVALID",
                message: "These are not up to 100 events of kinds that there are.",
                field: "events"
            )
        case .notYours:
            .domain(.permissionDenied, reason: "EVENT_NOT_YOURS", message: "Another service sends such events.")
        }
    }
}
