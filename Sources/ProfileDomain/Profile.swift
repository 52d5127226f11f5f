import Models

/// The data that a user gave about themselves.
public struct Profile: Sendable, Hashable {
    /// The profile's user.
    public let userID: UserID
    /// The name that others see; nil if not given yet.
    public var displayName: DisplayName?
    /// The unique username; nil if not given.
    public var username: Username?
    /// The phone number, which no other user has; nil if not given yet.
    public var phone: PhoneNumber?
    /// Whether it is proven that the number is the user's. Typing it is no proof.
    public var isPhoneProven: Bool
    /// When another user took the user's number by proof, in Unix milliseconds; nil if nobody did, or the user saved another number since.
    public var phoneTakenAtMilliseconds: Int64?
    /// The user's picture, nil if there is none.
    public var avatar: Avatar?
    /// When the profile last changed, in Unix milliseconds; 0 if never.
    public var updatedAtMilliseconds: Int64
    /// How often the profile was changed; 0 if never.
    public var revision: Int64

    /// A profile; without further arguments, that of a user who gave no data yet.
    public init(
        userID: UserID,
        displayName: DisplayName? = nil,
        username: Username? = nil,
        phone: PhoneNumber? = nil,
        isPhoneProven: Bool = false,
        phoneTakenAtMilliseconds: Int64? = nil,
        avatar: Avatar? = nil,
        updatedAtMilliseconds: Int64 = 0,
        revision: Int64 = 0
    ) {
        self.userID = userID
        self.displayName = displayName
        self.username = username
        self.phone = phone
        self.isPhoneProven = isPhoneProven
        self.phoneTakenAtMilliseconds = phoneTakenAtMilliseconds
        self.avatar = avatar
        self.updatedAtMilliseconds = updatedAtMilliseconds
        self.revision = revision
    }

    /// Whether a field has a value.
    public func has(_ field: ProfileField) -> Bool {
        switch field {
        case .displayName: displayName != nil
        case .phoneNumber: phone != nil
        case .username: username != nil
        }
    }
}

/// The part of a user's profile that others see.
public struct PublicProfile: Sendable, Hashable {
    /// The profile's user.
    public let userID: UserID
    /// The name that others see; nil if not given yet.
    public let displayName: DisplayName?
    /// The unique username; nil if not given.
    public let username: Username?
    /// The user's picture, nil if there is none.
    public let avatar: Avatar?

    /// A user's public profile.
    public init(userID: UserID, displayName: DisplayName?, username: Username?, avatar: Avatar?) {
        self.userID = userID
        self.displayName = displayName
        self.username = username
        self.avatar = avatar
    }
}

/// A field of a profile that an app may require of every user, named as clients know it, in the order in which an app asks for it.
public enum ProfileField: String, Sendable, Hashable, CaseIterable {
    /// The name that others see.
    case displayName = "display_name"
    /// The phone number.
    case phoneNumber = "phone_number"
    /// The unique username.
    case username = "username"
}
