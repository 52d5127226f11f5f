import API
import Models
import Postgres
import ProfileDomain
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
        case let fault as ProfileFault: rpcError(fault)
        case let fault as PostgresError: RPCError(database: fault, mayBeRepeated: mayBeRepeated)
        default: RPCError(thrown: error)
        }
    }

    private static func rpcError(_ fault: ProfileFault) -> RPCError {
        switch fault {
        case .userIDInvalid:
            return .domain(
                .invalidArgument,
                reason: "USER_ID_INVALID",
                message: "The user id must be a UUID.",
                fields: [
                    FieldViolation(field: "user_id", description: "Must be a UUID.", reason: "USER_ID_INVALID")
                ]
            )
        case .invalidFields(let faults):
            let violations = faults.map(violation)
            return .domain(
                .invalidArgument,
                reason: violations.first?.reason ?? "INVALID_ARGUMENT",
                message: violations.first?.description ?? "The request isn't valid.",
                fields: violations
            )
        case .phoneTaken:
            let message = "This phone number is already associated with another account."
            return .domain(
                .alreadyExists,
                reason: "PHONE_TAKEN",
                message: message,
                fields: [FieldViolation(field: "phone_number", description: message, reason: "PHONE_TAKEN")]
            )
        case .usernameTaken:
            let message = "This username is already taken."
            return .domain(
                .alreadyExists,
                reason: "USERNAME_TAKEN",
                message: message,
                fields: [FieldViolation(field: "username", description: message, reason: "USERNAME_TAKEN")]
            )
        case .tooManyAttempts(let retryAfterMilliseconds):
            return .domain(
                .resourceExhausted,
                reason: "TOO_MANY_ATTEMPTS",
                message: "Too many phone numbers were tried. Try again later.",
                fields: [
                    FieldViolation(
                        field: "phone_number",
                        description: "Too many numbers were tried.",
                        reason: "TOO_MANY_ATTEMPTS"
                    )
                ],
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        case .phoneUnreadable:
            return RPCError(.internalError, "internal error", cause: fault)
        }
    }

    private static func violation(_ fault: FieldFault) -> FieldViolation {
        let (reason, description) =
            switch fault {
            case .displayName(let fault): ("DISPLAY_NAME_INVALID", "The display name " + words(for: fault))
            case .phone(let fault): (reason(of: fault), words(for: fault))
            case .username(let fault): ("USERNAME_INVALID", words(for: fault))
            }
        return FieldViolation(field: fault.field.rawValue, description: description, reason: reason)
    }

    private static func reason(of fault: PhoneNumber.Fault) -> String {
        switch fault {
        case .notANumber, .notAssigned, .libraryFailed: "PHONE_INVALID"
        case .kindNotAllowed, .regionNotAllowed: "PHONE_NOT_ALLOWED"
        }
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
        case .tooShort(let charactersMin): "must have at least \(charactersMin) visible characters."
        case .tooLong(let charactersMax): "must have at most \(charactersMax) characters."
        case .tooManyBytes(let bytesMax): "must take at most \(bytesMax) bytes."
        case .forbiddenCharacter: "must not contain line breaks, control or direction characters."
        case .mixedScripts: "must not mix letters of different scripts within a word."
        case .tooManyMarks(let marksMax): "must not have more than \(marksMax) marks on a letter."
        case .unreadable: "could not be read now. Try again."
        }
    }

    private static func words(for fault: Username.Fault) -> String {
        switch fault {
        case .tooShort: "The username must have at least \(Username.lengthMin) characters."
        case .tooLong: "The username must have at most \(Username.lengthMax) characters."
        case .forbiddenCharacter: "The username may contain only the letters a to z, digits and underscores."
        }
    }
}
