/// How a person who was added by phone number becomes a member of a group. The raw values are stored, and those of settings.
public enum GroupOpenness: String, Sendable, Hashable, CaseIterable {
    /// At once: whoever has the number is a member.
    case open
    /// When somebody of the group who may confirms that the user with the number is the person meant.
    case confirm
    /// When the person accepts. Until then nobody learns whether the number is a user's.
    case consent
}
