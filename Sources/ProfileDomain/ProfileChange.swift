import Models

/// What a user wants changed, every field of it valid.
public struct ProfileChange: Sendable, Hashable {
    /// What to do with a field.
    public enum FieldChange<Value: Sendable & Hashable>: Sendable, Hashable {
        /// Leave it as it is.
        case keep
        /// Set it, whether there was one or not.
        case set(Value)
        /// Remove it.
        case remove

        /// The field after the change.
        func applied(to value: Value?) -> Value? {
            switch self {
            case .keep: value
            case .set(let new): new
            case .remove: nil
            }
        }
    }

    /// What to do with the display name.
    public let displayName: FieldChange<DisplayName>
    /// What to do with the phone number.
    public let phone: FieldChange<PhoneNumber>
    /// What to do with the username.
    public let username: FieldChange<Username>
    /// What to do with the picture.
    public let avatar: FieldChange<Avatar>
    /// The revision that the change expects; nil for any.
    public let expectedRevision: Int64?

    /// A change of values that are valid already.
    public init(
        displayName: FieldChange<DisplayName> = .keep,
        phone: FieldChange<PhoneNumber> = .keep,
        username: FieldChange<Username> = .keep,
        avatar: FieldChange<Avatar> = .keep,
        expectedRevision: Int64? = nil
    ) {
        self.displayName = displayName
        self.phone = phone
        self.username = username
        self.avatar = avatar
        self.expectedRevision = expectedRevision
    }

    /// A change as a person typed it: nil where a field wasn't given. An empty field asks for its removal where it is optional; where it is
    /// required it is as invalid as any other malformed text.
    ///
    /// Every field is checked, so that a person sees all faults at once.
    ///
    /// - Throws: ``ProfileError/invalidFields(_:)`` with at least one fault, in the order of the parameters, or
    ///   ``ProfileError/phoneUnreadable``.
    public init(
        displayName: String?,
        phoneNumber: String?,
        username: String?,
        avatar: String? = nil,
        expectedRevision: Int64? = nil,
        policy: PhonePolicy,
        required: RequiredFields
    ) throws(ProfileError) {
        var faults: [FieldError] = []

        func change<Value, Fault: Error>(
            _ field: ProfileField?,
            _ text: String?,
            _ value: (String) throws(Fault) -> Value,
            orElse fault: (Fault) -> FieldError
        ) -> FieldChange<Value> {
            guard let text else { return .keep }
            if text.isEmpty, field.map({ !required.contains($0) }) ?? true { return .remove }
            do {
                return .set(try value(text))
            } catch {
                faults.append(fault(error))
                return .keep
            }
        }

        self.init(
            displayName: change(.displayName, displayName, DisplayName.init(_:), orElse: FieldError.displayName),
            phone: change(
                .phoneNumber,
                phoneNumber,
                { (text) throws(PhoneNumber.Fault) in try PhoneNumber(text, policy: policy) },
                orElse: FieldError.phone
            ),
            username: change(.username, username, Username.init(_:), orElse: FieldError.username),
            avatar: change(nil, avatar, Avatar.init(_:), orElse: FieldError.avatar),
            expectedRevision: expectedRevision
        )
        guard !faults.contains(.phone(.libraryFailed)) else { throw .phoneUnreadable }
        guard faults.isEmpty else { throw .invalidFields(faults) }
    }
}
