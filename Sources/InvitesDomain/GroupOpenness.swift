/// How a person who was added by phone number becomes a member of a group. The raw values are stored, and those of settings.
public enum GroupOpenness: String, Sendable, Hashable, CaseIterable {
    /// At once: the user who has the number is a member.
    case open
    /// When a member who may do so confirms that the user with the number is the person meant.
    case confirm
    /// When the person accepts. Until then nobody learns whether a user has the number.
    case consent
}
