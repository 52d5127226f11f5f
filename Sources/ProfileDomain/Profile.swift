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
    /// When the profile last changed, in Unix milliseconds; 0 if never.
    public var updatedAtMilliseconds: Int64

    /// A profile; without further arguments, that of a user who told nothing yet.
    public init(
        userID: UserID,
        displayName: DisplayName? = nil,
        username: Username? = nil,
        phone: PhoneNumber? = nil,
        updatedAtMilliseconds: Int64 = 0
    ) {
        self.userID = userID
        self.displayName = displayName
        self.username = username
        self.phone = phone
        self.updatedAtMilliseconds = updatedAtMilliseconds
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

/// A field of a profile, by the name that clients know it by; in the order in which an app asks for them.
public enum ProfileField: String, Sendable, Hashable, CaseIterable {
    /// The name that others see.
    case displayName = "display_name"
    /// The phone number.
    case phoneNumber = "phone_number"
    /// The name that the user alone has.
    case username = "username"
}
