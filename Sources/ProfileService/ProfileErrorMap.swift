import API
import Images
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileError: DomainError {
    /// The RPC error for a domain error: the one place that spells the reasons on the wire.
    public var rpcError: RPCError {
        switch self {
        case .userIDInvalid:
            .domain(
                .invalidArgument,
                reason: "USER_ID_INVALID",
                message: "The user id must be a UUID.",
                field: "user_id"
            )
        case .absorptionIDInvalid:
            .domain(
                .invalidArgument,
                reason: "ABSORPTION_ID_INVALID",
                message: "The absorption id must be a UUID.",
                field: "absorption_id"
            )
        case .eventIDInvalid:
            .domain(
                .invalidArgument,
                reason: "EVENT_ID_INVALID",
                message: "The event id must be a UUID.",
                field: "event_id"
            )
        case .pageSizeInvalid:
            .domain(
                .invalidArgument,
                reason: "PAGE_SIZE_INVALID",
                message: "The page size must not be negative.",
                field: "page_size"
            )
        case .proofUnknown:
            .domain(
                .invalidArgument,
                reason: "PROOF_UNKNOWN",
                message: "It must say how the number was proven.",
                field: "proof"
            )
        case .invalidFields(let faults):
            .invalidFields(faults.map(\.violation))
        case .phoneTaken:
            .domain(
                .alreadyExists,
                reason: "PHONE_TAKEN",
                message: "This phone number is already associated with another account.",
                field: "phone_number"
            )
        case .usernameTaken(let suggestions):
            .domain(
                .alreadyExists,
                reason: "USERNAME_TAKEN",
                message: "This username is already taken.",
                field: "username",
                metadata: suggestions.isEmpty
                    ? [:] : [ErrorFact.suggestions: suggestions.map(\.value).joined(separator: ",")]
            )
        case .tooManyAttempts(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "Too many phone numbers were tried. Try again later.",
                field: "phone_number",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .tooManyUsernames(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "Too many usernames were tried. Try again later.",
                field: "username",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .revisionMismatch(let current):
            .domain(
                .aborted,
                reason: "REVISION_MISMATCH",
                message: "The profile was changed meanwhile. Look at it again.",
                metadata: [ErrorFact.revision: "\(current)"]
            )
        case .avatarInvalid(let fault):
            .domain(.invalidArgument, reason: "AVATAR_INVALID", message: fault.words, field: "image")
        case .avatarTooLarge(let bytesMax):
            .domain(
                .invalidArgument,
                reason: "AVATAR_TOO_LARGE",
                message: "The picture must have at most \(bytesMax) bytes.",
                field: "image"
            )
        case .tooManyUploads(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "Too many pictures were uploaded. Try again later.",
                field: "image",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .avatarUnknown:
            .domain(.notFound, reason: "AVATAR_UNKNOWN", message: "There is no such picture.")
        case .tooManyUsers:
            .domain(
                .invalidArgument,
                reason: "TOO_MANY_USERS",
                message: "At most \(ProfileMethods.usersMax) users may be asked for at once.",
                field: "user_ids"
            )
        case .accountClosed:
            // The same error that identity returns for the session.
            .domain(
                .unauthenticated,
                reason: "SESSION_REVOKED",
                message: "The session has been ended. Sign in again."
            )
        case .holderUnknown:
            .domain(
                .unavailable,
                reason: "HOLDER_UNKNOWN",
                message: "We can't check right now whether this is taken. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .phoneUnreadable:
            RPCError(.internalError, "internal error", cause: self)
        }
    }
}

extension FieldError {
    fileprivate var violation: FieldViolation {
        let (reason, description) =
            switch self {
            case .displayName(let fault): ("DISPLAY_NAME_INVALID", "The display name \(fault.words)")
            case .phone(let fault): (fault.reason, fault.words)
            case .username(let fault): ("USERNAME_INVALID", fault.words)
            case .avatar(let fault): ("AVATAR_URL_INVALID", fault.words)
            }
        return FieldViolation(field: field, description: description, reason: reason)
    }
}

extension AvatarError {
    fileprivate var words: String {
        switch self {
        case .unknownKind: "The picture must be a PNG, JPEG or WebP file."
        case .malformed: "The picture's file is damaged, or of a rare kind. Save it anew and try again."
        case .tooManyPixels: "The picture must have at most \(SafeImage.pixelsMax) pixels in a row and in a column."
        case .animated: "The picture must not move."
        }
    }
}

extension PhoneNumber.Fault {
    fileprivate var reason: String {
        switch self {
        case .notANumber, .notAssigned, .libraryFailed: "PHONE_INVALID"
        case .kindNotAllowed, .regionNotAllowed: "PHONE_NOT_ALLOWED"
        }
    }
}
