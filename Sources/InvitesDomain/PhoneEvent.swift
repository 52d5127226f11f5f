import Models

/// What became of a phone number, as the profile service tells it.
public struct PhoneEvent: Sendable, Hashable {
    /// What happened.
    public enum Change: Sendable, Hashable {
        /// This user took the number.
        case claimed(by: UserID)
        /// This user gave the number up.
        case released(by: UserID)
    }

    /// The event's id, by which it is applied once.
    public let id: EventID
    /// The number.
    public let phone: PhoneNumber
    /// What happened.
    public let change: Change

    /// An event.
    public init(id: EventID, phone: PhoneNumber, change: Change) {
        self.id = id
        self.phone = phone
        self.change = change
    }
}
