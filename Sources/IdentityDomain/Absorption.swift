import Models

/// One account absorbs another of the same person, which is empty, or it turns out that it isn't: what is known between the steps.
public struct Absorption: Sendable, Hashable {
    /// What is done next.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// Invites is asked whether the account is empty, and holds it if it is.
        case asking
        /// Profile is asked whether it is empty, and closes it if it is: from then on there is no way back.
        case closing
        /// Profile said no: invites is asked to reopen the account.
        case reopening
        /// Both said yes: what identity has is moved.
        case moving
    }

    /// By what the other services know it.
    public let id: EventID
    /// The account that goes.
    public let absorbed: UserID
    /// The account that stays.
    public let absorber: UserID
    /// The one of them whose person asked.
    public let asker: UserID
    /// Whether the account that goes is a guest's: then it need not be empty.
    public let isGuest: Bool
    /// What is done next.
    public let step: Step

    /// What is known.
    public init(
        id: EventID,
        absorbed: UserID,
        absorber: UserID,
        asker: UserID,
        isGuest: Bool = false,
        step: Step
    ) {
        self.id = id
        self.absorbed = absorbed
        self.absorber = absorber
        self.asker = asker
        self.isGuest = isGuest
        self.step = step
    }
}
