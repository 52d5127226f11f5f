import API
import ArgumentParser
import ServiceCommands

/// How an operator names an account, recognized by its form: an account's id, an e-mail, or else a phone number.
enum AccountName: ExpressibleByArgument {
    case id(String)
    case email(String)
    case phoneNumber(String)

    init?(argument: String) {
        if let id = AccountID(argument: argument) {
            self = .id(id.text)
        } else if argument.contains("@") {
            self = .email(argument)
        } else {
            self = .phoneNumber(argument)
        }
    }

    /// The key of a search at identity.
    var finding: OperatorV1.FindAccountRequest.OneOf_By {
        switch self {
        case .id(let text): .userID(text)
        case .email(let text): .email(text)
        case .phoneNumber(let text): .phoneNumber(text)
        }
    }

    /// The key of a release of the number; nil for an e-mail, which several accounts may have.
    var releasing: OperatorV1.ReleasePhoneRequest.OneOf_By? {
        switch self {
        case .id(let text): .userID(text)
        case .phoneNumber(let text): .phoneNumber(text)
        case .email: nil
        }
    }
}
