import Models

/// A phone number's change, as the profile service delivers it.
public struct PhoneEvent: Sendable, Hashable {
    /// What happened.
    public enum Change: Sendable, Hashable {
        /// This user took the number: from another user by proving it, or as a free one. Or the user had it already and has proven it now.
        case claimed(by: UserID, takenFrom: UserID? = nil, isProven: Bool = false)
        /// This user gave the number up; by deletion if their account was closed.
        case released(by: UserID, byDeletion: Bool = false)
    }

    /// The event's id, by which it is applied only once.
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
