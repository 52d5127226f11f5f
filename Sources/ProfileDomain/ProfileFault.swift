import Models

/// Why the profile service refuses a request.
public enum ProfileFault: Error, Sendable, Hashable {
    /// The request's user id is no UUID.
    case userIDInvalid
    /// Fields that can't be what was given; at least one.
    case invalidFields([FieldFault])
    /// The number belongs to another user.
    case phoneTaken
    /// The username belongs to another user.
    case usernameTaken
    /// The user tried too many numbers that belong to others, and may try again after this time.
    case tooManyAttempts(retryAfterMilliseconds: Int64)
    /// The number couldn't be judged, because the library that reads numbers failed.
    case phoneUnreadable
}

/// Why one field is refused.
public enum FieldFault: Sendable, Hashable {
    /// The display name breaks its rules.
    case displayName(TextFault)
    /// The phone number is none, or none that is taken here.
    case phone(PhoneNumber.Fault)
    /// The username breaks its rules.
    case username(Username.Fault)

    /// The field at fault.
    public var field: ProfileField {
        switch self {
        case .displayName: .displayName
        case .phone: .phoneNumber
        case .username: .username
        }
    }
}
