import Models

/// Why the profile service refuses a request.
public enum ProfileError: Error, Sendable, Hashable {
    /// The request's user id is no UUID.
    case userIDInvalid
    /// The request's absorption id is no UUID.
    case absorptionIDInvalid
    /// The event's id is no UUID.
    case eventIDInvalid
    /// The page size is negative.
    case pageSizeInvalid
    /// It isn't told by what a number is proven.
    case proofUnknown
    /// Fields that can't be what was given; at least one.
    case invalidFields([FieldError])
    /// The number belongs to another user.
    case phoneTaken
    /// The username belongs to another user, or is reserved. The suggestions are free.
    case usernameTaken(suggestions: [Username] = [])
    /// The user tried too many numbers that belong to others, and may try again after this time.
    case tooManyAttempts(retryAfterMilliseconds: Int64)
    /// The user, or all who come from their address, asked too often whether a username is free, and may again after this time.
    case tooManyUsernames(retryAfterMilliseconds: Int64)
    /// The profile is not the one that was to be changed: it has this revision by now.
    case revisionMismatch(current: Int64)
    /// The image can't be an avatar.
    case avatarInvalid(AvatarError)
    /// The image has more bytes than it may.
    case avatarTooLarge(bytesMax: Int)
    /// The user uploaded too many images, and may again after this time.
    case tooManyUploads(retryAfterMilliseconds: Int64)
    /// There is no such avatar.
    case avatarUnknown
    /// More profiles were asked for than one answer has.
    case tooManyUsers
    /// The user's account was closed.
    case accountClosed
    /// Somebody has the number or the username, and it can't be told now whether their account was closed.
    case holderUnknown
    /// The number couldn't be judged, because the library that reads numbers failed.
    case phoneUnreadable
}

/// Why an image can't be an avatar.
public enum AvatarError: Sendable, Hashable {
    /// It is neither PNG nor JPEG nor WebP.
    case unknownKind
    /// It is damaged, or holds what no picture needs.
    case malformed
    /// It has too many pixels.
    case tooManyPixels
    /// It is a film.
    case animated
}

/// Why one field is refused.
public enum FieldError: Sendable, Hashable {
    /// The display name breaks its rules.
    case displayName(TextError)
    /// The phone number is none, or none that is taken here.
    case phone(PhoneNumber.Fault)
    /// The username breaks its rules.
    case username(Username.Fault)
    /// The picture is none.
    case avatar(Avatar.Fault)

    /// The field at fault, by the name that clients know it by.
    public var field: String {
        switch self {
        case .displayName: ProfileField.displayName.rawValue
        case .phone: ProfileField.phoneNumber.rawValue
        case .username: ProfileField.username.rawValue
        case .avatar: "avatar_url"
        }
    }
}
