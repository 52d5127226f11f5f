/// Which fields an app requires of every user. The others are optional: they may stay empty, and be emptied again.
public struct RequiredFields: Sendable, Hashable {
    private let fields: Set<ProfileField>

    /// The default unless an operator sets another: the name that others see, and the number by which invitations find people.
    public static let standard = RequiredFields([.displayName, .phoneNumber])

    /// These fields; none for an app that requires nothing.
    public init(_ fields: Set<ProfileField>) { self.fields = fields }

    /// What is required of a guest, who can have no phone number.
    public var ofGuests: RequiredFields { RequiredFields(fields.subtracting([.phoneNumber])) }

    /// Whether a field is required.
    public func contains(_ field: ProfileField) -> Bool { fields.contains(field) }

    /// The required fields that a profile lacks, in the order in which an app asks for them.
    public func missing(in profile: Profile) -> [ProfileField] {
        ProfileField.allCases.filter { fields.contains($0) && !profile.has($0) }
    }
}
