import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesError: DomainError {
    /// The RPC error for a domain error: the one place that spells the reasons on the wire.
    public var rpcError: RPCError {
        switch self {
        case .invalidFields(let faults):
            .invalidFields(faults.map(\.violation))
        case .groupNotFound:
            .domain(.notFound, reason: "GROUP_NOT_FOUND", message: "There is no such group.")
        case .notAMember:
            .domain(
                .permissionDenied,
                reason: "NOT_A_MEMBER",
                message: "Only members of the group may do this."
            )
        case .groupFull(let membersMax):
            .domain(
                .failedPrecondition,
                reason: "GROUP_FULL",
                message: "A group can have at most \(membersMax) members."
            )
        case .tooManyAttempts(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "This was done too often. Try again later.",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .tooManyGroups(let groupsMax):
            .domain(
                .failedPrecondition,
                reason: "TOO_MANY_GROUPS",
                message: "A user can make at most \(groupsMax) groups."
            )
        case .memberGroupsFull(let groupsMax):
            .domain(
                .failedPrecondition,
                reason: "MEMBER_GROUPS_FULL",
                message: "A person can be in at most \(groupsMax) groups."
            )
        case .tooManyPending(let pendingMax):
            .domain(
                .failedPrecondition,
                reason: "TOO_MANY_PENDING",
                message: "A user can wait for at most \(pendingMax) people."
            )
        case .roleInsufficient:
            .domain(
                .permissionDenied,
                reason: "ROLE_INSUFFICIENT",
                message: "Your role in the group doesn't allow this."
            )
        case .ownerMustHandOver:
            // ABORTED, which is a conflict over HTTP.
            .domain(
                .aborted,
                reason: "OWNER_MUST_HAND_OVER",
                message: "The owner must make somebody else the owner first."
            )
        case .memberNotFound:
            .domain(.notFound, reason: "MEMBER_NOT_FOUND", message: "There is no such member in the group.")
        case .roleInvalid:
            .invalid("ROLE_INVALID", field: "role", "The role must be admin or member.")
        case .opennessInvalid:
            .invalid("OPENNESS_INVALID", field: "openness", "The openness must be open, confirm or consent.")
        case .peopleCountInvalid(let peopleMax):
            .invalid("PEOPLE_COUNT_INVALID", field: "members", "A request adds 1 to \(peopleMax) people.")
        case .cursorInvalid:
            .invalid("INVALID_CURSOR", field: "page_token", "The page token is not one of this list's. Begin anew.")
        case .pageSizeInvalid:
            .invalid("PAGE_SIZE_INVALID", field: "page_size", "The page size must not be negative.")
        case .idempotencyKeyInvalid:
            // No field is invalid: over HTTP it is a header, and a malformed one is a 400.
            .domain(
                .invalidArgument,
                reason: "IDEMPOTENCY_KEY_INVALID",
                message: "The idempotency key must be a UUID."
            )
        case .idempotencyKeyReused:
            .domain(
                .failedPrecondition,
                reason: "IDEMPOTENCY_KEY_REUSED",
                message: "This idempotency key was used for another request.",
                field: "idempotency_key"
            )
        case .eventInvalid(let index):
            .invalid(
                "EVENT_INVALID",
                field: "events[\(index)]",
                "An event must have an id, a phone number, and what happened to it."
            )
        case .tooManyEvents(let eventsMax):
            .invalid("TOO_MANY_EVENTS", field: "events", "A request can have at most \(eventsMax) events.")
        case .userIDInvalid:
            .invalid("USER_ID_INVALID", field: "user_id", "The user id must be a UUID.")
        case .absorptionIDInvalid:
            .invalid("ABSORPTION_ID_INVALID", field: "absorption_id", "The absorption id must be a UUID.")
        case .accountHeld:
            .domain(
                .unavailable,
                reason: "ACCOUNT_HELD",
                message: "The account is being changed. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .accountClosed:
            // The same error that identity returns for the session.
            .domain(
                .unauthenticated,
                reason: "SESSION_REVOKED",
                message: "The session has been ended. Sign in again."
            )
        case .invitation(let fault):
            fault.rpcError
        case .phoneUnreadable:
            RPCError(.internalError, "internal error", cause: self)
        }
    }
}

extension RPCError {
    fileprivate static func invalid(_ reason: String, field: String, _ message: String) -> RPCError {
        .domain(.invalidArgument, reason: reason, message: message, field: field)
    }
}

extension FieldError {
    fileprivate var violation: FieldViolation {
        let (reason, description) =
            switch self {
            case .groupName(let fault): ("GROUP_NAME_INVALID", "The group's name \(fault.words)")
            case .displayName(let fault, _): ("DISPLAY_NAME_INVALID", "The display name \(fault.words)")
            case .phone(let fault): ("PHONE_INVALID", fault.words)
            case .linkLifetime:
                ("LINK_LIFETIME_INVALID", "A link is good for 60 seconds to 90 days.")
            case .linkUses:
                ("LINK_USES_INVALID", "A link is for 1 to 1,000 users, or for any number.")
            }
        return FieldViolation(field: field, description: description, reason: reason)
    }
}
