import Models

/// What a batch of events does to the numbers it is about: who has each of them in the end, and for whom the members
/// who wait for one of them are.
///
/// The whole batch is applied in one transaction with all its numbers locked, so nobody sees the steps between. That
/// lets the effect be worked out here and written in a few statements, however many events there are.
public struct PhoneLedger: Sendable, Hashable {
    /// A claim that pending members are linked by.
    public struct Link: Sendable, Hashable {
        /// The number that they wait for.
        public let phone: PhoneNumber
        /// The user who took it.
        public let userID: UserID

        /// A link.
        public init(phone: PhoneNumber, userID: UserID) {
            self.phone = phone
            self.userID = userID
        }
    }

    /// Who has each number, for those whose owner changed; the value is nil where nobody has it any more.
    public private(set) var changedOwners: [PhoneNumber: UserID?] = [:]
    /// The first claim of each number, in the order of the events. It takes all who wait for the number, so later
    /// claims in the batch find nobody waiting.
    public private(set) var links: [Link] = []

    /// The effect of events, in the order in which they happened for each number.
    ///
    /// - Parameters:
    ///   - events: those that weren't applied before.
    ///   - owners: who had each number before them; a number that isn't in it belonged to nobody.
    public init(applying events: [PhoneEvent], owners: [PhoneNumber: UserID]) {
        var current = owners
        var linked: Set<PhoneNumber> = []
        for event in events {
            switch event.change {
            case .claimed(let userID):
                current[event.phone] = userID
                if linked.insert(event.phone).inserted {
                    links.append(Link(phone: event.phone, userID: userID))
                }
            case .released(let userID):
                // A release that comes after another user's claim must not take the number from them.
                if current[event.phone] == userID { current[event.phone] = nil }
            }
        }
        for phone in Set(events.map(\.phone)) where current[phone] != owners[phone] {
            changedOwners.updateValue(current[phone], forKey: phone)
        }
    }
}
