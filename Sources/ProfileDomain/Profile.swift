import Models

/// What a user told about themselves.
public struct Profile: Sendable, Hashable {
    /// Whose profile it is.
    public let userID: UserID
    /// The name that others see, nil if not told yet.
    public var displayName: DisplayName?
    /// The name that this user alone has, nil if not told.
    public var username: Username?
    /// The number that this user alone has, nil if not told yet.
    public var phone: PhoneNumber?
    /// Whether it is proven that the number is the user's, which it is not by typing it.
    public var isPhoneProven: Bool
    /// When the user's number was taken by somebody who has proven it, in Unix milliseconds; nil if none was, or the user saved
    /// another one since.
    public var phoneTakenAtMilliseconds: Int64?
    /// The user's picture, nil if there is none.
    public var avatar: Avatar?
    /// When the profile last changed, in Unix milliseconds; 0 if never.
    public var updatedAtMilliseconds: Int64
    /// How often the profile was changed; 0 if never.
    public var revision: Int64

    /// A profile; without further arguments, that of a user who told nothing yet.
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

    /// Whether a field is told.
    public func has(_ field: ProfileField) -> Bool {
        switch field {
        case .displayName: displayName != nil
        case .phoneNumber: phone != nil
        case .username: username != nil
        }
    }
}

/// What others are shown of a user.
public struct PublicProfile: Sendable, Hashable {
    /// Whose it is.
    public let userID: UserID
    /// The name that others see, nil if not told yet.
    public let displayName: DisplayName?
    /// The name that this user alone has, nil if not told.
    public let username: Username?
    /// The user's picture, nil if there is none.
    public let avatar: Avatar?

    /// What is shown of a user.
    public init(userID: UserID, displayName: DisplayName?, username: Username?, avatar: Avatar?) {
        self.userID = userID
        self.displayName = displayName
        self.username = username
        self.avatar = avatar
    }
}

/// A field of a profile that an app may ask every user for, by the name that clients know it by; in the order in which an app asks for them.
public enum ProfileField: String, Sendable, Hashable, CaseIterable {
    /// The name that others see.
    case displayName = "display_name"
    /// The phone number.
    case phoneNumber = "phone_number"
    /// The name that the user alone has.
    case username = "username"
}
