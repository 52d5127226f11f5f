import Models

/// Why the profile service refuses a request.
public enum ProfileError: Error, Sendable, Hashable {
    /// The request's user id isn't a UUID.
    case userIDInvalid
    /// The request's absorption id isn't a UUID.
    case absorptionIDInvalid
    /// The event's id isn't a UUID.
    case eventIDInvalid
    /// The page size is negative.
    case pageSizeInvalid
    /// The request doesn't name a known proof of the number.
    case proofUnknown
    /// Invalid fields; at least one.
    case invalidFields([FieldError])
    /// The number belongs to another user.
    case phoneTaken
    /// The username belongs to another user, or is reserved. The suggestions are free.
    case usernameTaken(suggestions: [Username] = [])
    /// The user tried too many numbers that belong to others, and may retry after this time.
    case tooManyAttempts(retryAfterMilliseconds: Int64)
    /// The user, or all users of their address, asked too often whether a username is free, and may retry after this time.
    case tooManyUsernames(retryAfterMilliseconds: Int64)
    /// The profile doesn't have the expected revision; this is its current one.
    case revisionMismatch(current: Int64)
    /// The image can't be an avatar.
    case avatarInvalid(AvatarError)
    /// The image has too many bytes.
    case avatarTooLarge(bytesMax: Int)
    /// The user uploaded too many images, and may retry after this time.
    case tooManyUploads(retryAfterMilliseconds: Int64)
    /// There is no such avatar.
    case avatarUnknown
    /// More profiles were requested than a response can have.
    case tooManyUsers
    /// The user's account was closed.
    case accountClosed
    /// Another user has the number or the username, and it is unknown now whether their account was closed.
    case holderUnknown
    /// The number couldn't be judged, because the library that reads numbers failed.
    case phoneUnreadable
}

/// Why an image can't be an avatar.
public enum AvatarError: Sendable, Hashable {
    /// It is neither PNG nor JPEG nor WebP.
    case unknownKind
    /// It is damaged, or holds data that no picture needs.
    case malformed
    /// It has too many pixels.
    case tooManyPixels
    /// It is an animation.
    case animated
}

/// Why one field is refused.
public enum FieldError: Sendable, Hashable {
    /// The display name breaks its rules.
    case displayName(TextError)
    /// The phone number is invalid, or not accepted here.
    case phone(PhoneNumber.Fault)
    /// The username breaks its rules.
    case username(Username.Fault)
    /// The picture's name is invalid.
    case avatar(Avatar.Fault)

    /// The invalid field, by the name that clients know.
    public var field: String {
        switch self {
        case .displayName: ProfileField.displayName.rawValue
        case .phone: ProfileField.phoneNumber.rawValue
        case .username: ProfileField.username.rawValue
        case .avatar: "avatar_url"
        }
    }
}
