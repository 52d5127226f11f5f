import Models

/// What a user told about themselves.
public struct Profile: Sendable, Hashable {
    /// Whose profile it is.
    public let userID: UserID
    /// The name that others see, nil if not told yet.
    public var displayName: DisplayName?
    /// The name that this user alone has, nil if not told; it may stay so.
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

    /// The required fields that are not told yet, in the order in which an app asks for them. A username is optional
    /// and so never missing.
    public var missingFields: [ProfileField] {
        var missing: [ProfileField] = []
        if displayName == nil { missing.append(.displayName) }
        if phone == nil { missing.append(.phoneNumber) }
        return missing
    }
}

/// A field of a profile, by the name that clients know it by.
public enum ProfileField: String, Sendable, Hashable, CaseIterable {
    /// The name that others see.
    case displayName = "display_name"
    /// The phone number.
    case phoneNumber = "phone_number"
    /// The name that the user alone has.
    case username = "username"
}
