import API
import Models
import ProfileDomain
import RPC
import ServiceKit

extension ProfileFault: DomainFault {
    /// What callers are told about a refusal of the rules: the one place where the reasons on the wire are spelled.
    public var rpcError: RPCError {
        switch self {
        case .userIDInvalid:
            .domain(
                .invalidArgument,
                reason: "USER_ID_INVALID",
                message: "The user id must be a UUID.",
                field: "user_id"
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
        case .usernameTaken:
            .domain(
                .alreadyExists,
                reason: "USERNAME_TAKEN",
                message: "This username is already taken.",
                field: "username"
            )
        case .tooManyAttempts(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "Too many phone numbers were tried. Try again later.",
                field: "phone_number",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .phoneUnreadable:
            RPCError(.internalError, "internal error", cause: self)
        }
    }
}

extension FieldFault {
    fileprivate var violation: FieldViolation {
        let (reason, description) =
            switch self {
            case .displayName(let fault): ("DISPLAY_NAME_INVALID", "The display name \(fault.words)")
            case .phone(let fault): (fault.reason, fault.words)
            case .username(let fault): ("USERNAME_INVALID", fault.words)
            }
        return FieldViolation(field: field.rawValue, description: description, reason: reason)
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
