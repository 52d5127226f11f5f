import Models

/// A group to create, every field of it valid.
public struct NewGroup: Sendable, Hashable {
    /// What it is to be called.
    public let name: GroupName
    /// The creator's name in it, nil if not given.
    public let ownerDisplayName: DisplayName?

    /// A group of what a person typed; the creator's name may be empty.
    ///
    /// - Throws: ``InvitesFault/invalidFields(_:)`` with all faults.
    public init(name: String, ownerDisplayName: String) throws(InvitesFault) {
        var faults: [FieldFault] = []
        var acceptedName: GroupName?
        do { acceptedName = try GroupName(name) } catch { faults.append(.groupName(error)) }
        var acceptedOwner: DisplayName?
        if !ownerDisplayName.isEmpty {
            do {
                acceptedOwner = try DisplayName(ownerDisplayName)
            } catch {
                faults.append(.displayName(error, field: "owner_display_name"))
            }
        }
        guard let acceptedName, faults.isEmpty else { throw .invalidFields(faults) }
        self.name = acceptedName
        self.ownerDisplayName = acceptedOwner
    }
}
