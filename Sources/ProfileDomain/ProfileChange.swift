import Models

/// What a user wants changed, every field of it valid.
public struct ProfileChange: Sendable, Hashable {
    /// What to do with a field that may also be removed.
    public enum FieldChange<Value: Sendable & Hashable>: Sendable, Hashable {
        /// Leave it as it is.
        case keep
        /// Set it, whether there was one or not.
        case set(Value)
        /// Have none from now on.
        case remove
    }

    /// The new display name, nil to keep the one there is. It is required, and so can't be removed.
    public let displayName: DisplayName?
    /// The new phone number, nil to keep the one there is. It is required, and so can't be removed.
    public let phone: PhoneNumber?
    /// What to do with the username.
    public let username: FieldChange<Username>

    /// A change of values that are valid already.
    public init(displayName: DisplayName? = nil, phone: PhoneNumber? = nil, username: FieldChange<Username> = .keep) {
        self.displayName = displayName
        self.phone = phone
        self.username = username
    }

    /// A change of what a person typed: nil where a field wasn't given; an empty username asks for its removal.
    ///
    /// Every field is looked at, so that a person learns of all faults at once.
    ///
    /// - Throws: ``ProfileFault/invalidFields(_:)`` with at least one fault, in the order of the parameters, or
    ///   ``ProfileFault/phoneUnreadable``.
    public init(
        displayName: String?,
        phoneNumber: String?,
        username: String?,
        policy: PhonePolicy
    ) throws(ProfileFault) {
        var faults: [FieldFault] = []

        var acceptedName: DisplayName?
        if let displayName {
            do { acceptedName = try DisplayName(displayName) } catch { faults.append(.displayName(error)) }
        }

        var acceptedPhone: PhoneNumber?
        if let phoneNumber {
            do {
                acceptedPhone = try PhoneNumber(phoneNumber, policy: policy)
            } catch {
                guard error != .libraryFailed else { throw .phoneUnreadable }
                faults.append(.phone(error))
            }
        }

        var acceptedUsername = FieldChange<Username>.keep
        if let username {
            do {
                acceptedUsername = username.isEmpty ? .remove : .set(try Username(username))
            } catch {
                faults.append(.username(error))
            }
        }

        guard faults.isEmpty else { throw .invalidFields(faults) }
        self.init(displayName: acceptedName, phone: acceptedPhone, username: acceptedUsername)
    }
}
