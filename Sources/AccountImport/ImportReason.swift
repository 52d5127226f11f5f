/// Why something of a row doesn't come in. The words are for programs too: they never change their meaning.
public enum ImportReason: Sendable, Hashable, CustomStringConvertible {
    // The whole row.
    /// The row is no row: a count of fields that isn't the header's, bytes that are no UTF-8, or what is no JSON object.
    case rowInvalid
    /// An earlier row has the same id.
    case rowRepeated
    /// There is no id, or one that can't be kept.
    case idInvalid
    /// The time at which the account was made can't be read.
    case createdAtInvalid
    /// An account that wasn't imported has this id.
    case accountExists
    /// The account was closed since it came in, or joined with another.
    case accountClosed
    /// Its former backend had deleted it.
    case accountDeleted
    /// Nobody can open it: a password, an e-mail or nothing alone.
    case unreachable

    // A part of it; the rest comes in, if somebody can open it by that.
    /// The provider isn't configured.
    case providerUnknown(String)
    /// The provider's person has another account.
    case subjectTaken(String)
    /// What names the provider's person can't be kept.
    case subjectInvalid(String)
    /// There are more identities than an account may have.
    case identitiesTooMany
    /// It is no phone number.
    case phoneInvalid
    /// The policy doesn't take numbers of its kind or region.
    case phoneNotAllowed
    /// Somebody else has proven the number.
    case phoneTaken
    /// It can't be a display name.
    case displayNameInvalid
    /// It can't be a username.
    case usernameInvalid
    /// Somebody else has the username, or it is reserved.
    case usernameTaken

    /// The word, and of which provider.
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
