import Models

/// A group to create, every field of it valid.
public struct NewGroup: Sendable, Hashable {
    /// Its name.
    public let name: GroupName
    /// The creator's name in it, nil if not given.
    public let ownerDisplayName: ContactName?
    /// Its openness; nil if the request doesn't name one.
    public let openness: GroupOpenness?

    /// The text that distinguishes requests with the same idempotency key: the name, and the openness if given. The creator's name may
    /// differ, since it changes independently.
    public var requestText: String {
        // No name has a line break.
        openness.map { "\(name.value)\n\($0.rawValue)" } ?? name.value
    }

    /// Parses a group's name that a person typed.
    ///
    /// - Throws: ``InvitesError/invalidFields(_:)``.
    public static func name(_ text: String) throws(InvitesError) -> GroupName {
        do { return try GroupName(text) } catch { throw .invalidFields([.groupName(error)]) }
    }

    /// A group of what a person typed; the creator's name may be empty.
    ///
    /// - Throws: ``InvitesError/invalidFields(_:)`` with all faults.
    public init(name: String, ownerDisplayName: String, openness: GroupOpenness? = nil) throws(InvitesError) {
        var faults: [FieldError] = []
        var acceptedName: GroupName?
        do { acceptedName = try GroupName(name) } catch { faults.append(.groupName(error)) }
        var acceptedOwner: ContactName?
        if !ownerDisplayName.isEmpty {
            do {
                acceptedOwner = try ContactName(ownerDisplayName)
            } catch {
                faults.append(.displayName(error, field: "owner_display_name"))
            }
        }
        guard let acceptedName, faults.isEmpty else { throw .invalidFields(faults) }
        self.name = acceptedName
        self.ownerDisplayName = acceptedOwner
        self.openness = openness
    }
}
