/// Which fields an app asks every user for. The others are optional: they may stay empty, and be emptied again.
public struct RequiredFields: Sendable, Hashable {
    private let fields: Set<ProfileField>

    /// Unless an operator says otherwise: the name that others see, and the number by which invitations find people.
    public static let standard = RequiredFields([.displayName, .phoneNumber])

    /// These fields; none for an app that forces nothing on people.
    public init(_ fields: Set<ProfileField>) { self.fields = fields }

    /// Whether a field is required.
    public func contains(_ field: ProfileField) -> Bool { fields.contains(field) }

    /// What of it a profile doesn't tell yet, in the order in which an app asks for it.
    public func missing(in profile: Profile) -> [ProfileField] {
        ProfileField.allCases.filter { fields.contains($0) && !profile.has($0) }
    }
}
