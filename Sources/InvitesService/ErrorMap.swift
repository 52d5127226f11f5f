import API
import InvitesDomain
import Models
import Postgres
import RPC
import ServiceKit

/// How the service's errors look to callers: the one place where a fault gets its code, its stable reason and its
/// words.
enum ErrorMap {
    /// The error to answer with for whatever a method threw.
    ///
    /// - Parameter mayBeRepeated: whether the call has the effect of one however often it is made.
    static func rpcError(_ error: any Error, mayBeRepeated: Bool) -> RPCError {
        switch error {
        case let fault as InvitesFault: rpcError(fault)
        case let fault as PostgresError: RPCError(database: fault, mayBeRepeated: mayBeRepeated)
        default: RPCError(thrown: error)
        }
    }

    private static func rpcError(_ fault: InvitesFault) -> RPCError {
        switch fault {
        case .userIDInvalid:
            return invalid("USER_ID_INVALID", field: "user_id", "The user id must be a UUID.")
        case .invalidFields(let faults):
            let violations = faults.map(violation)
            return .domain(
                .invalidArgument,
                reason: violations.first?.reason ?? "INVALID_ARGUMENT",
                message: violations.first?.description ?? "The request isn't valid.",
                fields: violations
            )
        case .groupNotFound:
            return .domain(.notFound, reason: "GROUP_NOT_FOUND", message: "There is no such group.")
        case .notAMember:
            return .domain(
                .permissionDenied,
                reason: "NOT_A_MEMBER",
                message: "Only members of the group may do this."
            )
        case .groupFull(let membersMax):
            return .domain(
                .failedPrecondition,
                reason: "GROUP_FULL",
                message: "A group can have at most \(membersMax) members."
            )
        case .tooManyAttempts(let retryAfterMilliseconds):
            return .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "This was done too often. Try again later.",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .tooManyGroups(let groupsMax):
            return .domain(
                .failedPrecondition,
                reason: "TOO_MANY_GROUPS",
                message: "A user can make at most \(groupsMax) groups."
            )
        case .pageTokenInvalid:
            return invalid("PAGE_TOKEN_INVALID", field: "page_token", "The page token is not one of this list's.")
        case .pageSizeInvalid:
            return invalid("PAGE_SIZE_INVALID", field: "page_size", "The page size must not be negative.")
        case .idempotencyKeyInvalid:
            // No field at fault: over HTTP it is a header, and a malformed one is a 400.
            return .domain(
                .invalidArgument,
                reason: "IDEMPOTENCY_KEY_INVALID",
                message: "The idempotency key must be a UUID."
            )
        case .idempotencyKeyReused:
            let message = "This idempotency key was used for another request."
            return .domain(
                .failedPrecondition,
                reason: "IDEMPOTENCY_KEY_REUSED",
                message: message,
                fields: [
                    FieldViolation(field: "idempotency_key", description: message, reason: "IDEMPOTENCY_KEY_REUSED")
                ]
            )
        case .eventInvalid(let index):
            return invalid(
                "EVENT_INVALID",
                field: "events[\(index)]",
                "An event must have an id, a phone number, and what happened to it."
            )
        case .tooManyEvents(let eventsMax):
            return invalid("TOO_MANY_EVENTS", field: "events", "A request can have at most \(eventsMax) events.")
        case .phoneUnreadable:
            return RPCError(.internalError, "internal error", cause: fault)
        }
    }

    private static func invalid(_ reason: String, field: String, _ message: String) -> RPCError {
        .domain(
            .invalidArgument,
            reason: reason,
            message: message,
            fields: [FieldViolation(field: field, description: message, reason: reason)]
        )
    }

    private static func violation(_ fault: FieldFault) -> FieldViolation {
        let (reason, description) =
            switch fault {
            case .groupName(let fault): ("GROUP_NAME_INVALID", "The group's name " + words(for: fault))
            case .displayName(let fault, _): ("DISPLAY_NAME_INVALID", "The display name " + words(for: fault))
            case .phone(let fault): ("PHONE_INVALID", words(for: fault))
            }
        return FieldViolation(field: fault.field, description: description, reason: reason)
    }

    private static func words(for fault: PhoneNumber.Fault) -> String {
        switch fault {
        case .notANumber: "This is not a phone number."
        case .notAssigned, .libraryFailed: "This phone number does not exist."
        case .kindNotAllowed: "This kind of phone number can't be used here."
        case .regionNotAllowed: "Phone numbers of this country can't be used here."
        }
    }

    private static func words(for fault: TextFault) -> String {
        switch fault {
        case .tooShort(let charactersMin) where charactersMin == 1: "must have at least one visible character."
        case .tooShort(let charactersMin): "must have at least \(charactersMin) visible characters."
        case .tooLong(let charactersMax): "must have at most \(charactersMax) characters."
        case .tooManyBytes(let bytesMax): "must take at most \(bytesMax) bytes."
        case .forbiddenCharacter: "must not contain line breaks, control or direction characters."
        case .mixedScripts: "must not mix letters of different scripts within a word."
        case .tooManyMarks(let marksMax): "must not have more than \(marksMax) marks on a letter."
        case .unreadable: "could not be read now. Try again."
        }
    }
}
