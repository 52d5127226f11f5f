import Models

/// A person to add to a group, every field of it valid.
public struct Invitee: Sendable, Hashable {
    /// The person's number.
    public let phone: PhoneNumber
    /// The person's name as the inviter knows it.
    public let displayName: ContactName

    /// An invitee of values that are valid already.
    public init(phone: PhoneNumber, displayName: ContactName) {
        self.phone = phone
        self.displayName = displayName
    }

    /// An invitee of what a person typed.
    ///
    /// - Throws: ``InvitesError/invalidFields(_:)`` with all faults, or ``InvitesError/phoneUnreadable``.
    public init(phoneNumber: String, displayName: String, policy: PhonePolicy) throws(InvitesError) {
        var faults: [FieldError] = []
        var acceptedPhone: PhoneNumber?
        do {
            acceptedPhone = try PhoneNumber(phoneNumber, policy: policy)
        } catch {
            guard error != .libraryFailed else { throw .phoneUnreadable }
            faults.append(.phone(error))
        }
        var acceptedName: ContactName?
        do {
            acceptedName = try ContactName(displayName)
        } catch {
            faults.append(.displayName(error, field: "display_name"))
        }
        guard let acceptedPhone, let acceptedName else { throw .invalidFields(faults) }
        self.init(phone: acceptedPhone, displayName: acceptedName)
    }
}
