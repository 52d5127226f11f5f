/// Why a row or a part of it is rejected. The words are for programs too: they never change their meaning.
public enum ImportReason: Sendable, Hashable, CustomStringConvertible {
    // Reasons that reject the whole row.
    /// The row is malformed: its number of fields differs from the header's, its bytes are not UTF-8, or it is not a JSON object.
    case rowInvalid
    /// An earlier row has the same id.
    case rowRepeated
    /// There is no id, or one that can't be kept.
    case idInvalid
    /// The creation time of the account can't be read.
    case createdAtInvalid
    /// An account that wasn't imported has this id.
    case accountExists
    /// The account was closed since its import, or absorbed by another.
    case accountClosed
    /// Its former backend had deleted it.
    case accountDeleted
    /// No user can sign in to it: it has only a password, only an e-mail, or nothing.
    case unreachable

    // Reasons that reject a part of the row; the rest is imported, if the user can sign in with it.
    /// The provider isn't configured.
    case providerUnknown(String)
    /// The identity belongs to another account.
    case subjectTaken(String)
    /// The subject of the identity can't be stored.
    case subjectInvalid(String)
    /// There are more identities than an account may have.
    case identitiesTooMany
    /// The phone number is invalid.
    case phoneInvalid
    /// The policy doesn't accept phone numbers of this kind or region.
    case phoneNotAllowed
    /// Another user has proven the number.
    case phoneTaken
    /// The display name is invalid.
    case displayNameInvalid
    /// The username is invalid.
    case usernameInvalid
    /// Another user has the username, or it is reserved.
    case usernameTaken

    /// The word, with the provider if there is one.
    public var description: String {
        switch self {
        case .rowInvalid: "row_invalid"
        case .rowRepeated: "row_repeated"
        case .idInvalid: "id_invalid"
        case .createdAtInvalid: "created_at_invalid"
        case .accountExists: "account_exists"
        case .accountClosed: "account_closed"
        case .accountDeleted: "account_deleted"
        case .unreachable: "unreachable"
        case .providerUnknown(let provider): "provider_unknown \(provider)"
        case .subjectTaken(let provider): "subject_taken \(provider)"
        case .subjectInvalid(let provider): "subject_invalid \(provider)"
        case .identitiesTooMany: "identities_too_many"
        case .phoneInvalid: "phone_invalid"
        case .phoneNotAllowed: "phone_not_allowed"
        case .phoneTaken: "phone_taken"
        case .displayNameInvalid: "display_name_invalid"
        case .usernameInvalid: "username_invalid"
        case .usernameTaken: "username_taken"
        }
    }
}
