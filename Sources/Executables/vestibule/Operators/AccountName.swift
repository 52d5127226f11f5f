import API
import ArgumentParser
import ServiceCommands

/// By what an operator names a person, told by its form: an account's id, an e-mail, else a phone number.
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

    /// What identity is asked by.
    var finding: OperatorV1.FindAccountRequest.OneOf_By {
        switch self {
        case .id(let text): .userID(text)
        case .email(let text): .email(text)
        case .phoneNumber(let text): .phoneNumber(text)
        }
    }

    /// What has its number released; nil for an e-mail, which may be of several.
    var releasing: OperatorV1.ReleasePhoneRequest.OneOf_By? {
        switch self {
        case .id(let text): .userID(text)
        case .phoneNumber(let text): .phoneNumber(text)
        case .email: nil
        }
    }
}
