import Models

/// The effect of a batch of events on their numbers: who has each number in the end, and step by step the changes to members who are held,
/// or awaited, by one of them.
///
/// The whole batch is applied in one transaction with all its numbers locked, so nobody sees the steps between. So the effect is worked out
/// here and written in a few statements: numbers don't touch each other, and the first event of each number is one step, the second of each
/// the next. Mostly there is one step.
///
/// The ledger treats a number by what is known about it. A user who is a member by a number alone stays one while they have it:
/// - If the user gives the number up (people change SIM cards), the member stays, in doubt, until a member who may do so keeps or removes
///   them. The group also awaits the number again, so that no person's place is lost.
/// - If the user gets the number back, the doubt ends, and so does the group's waiting for the number.
/// - If another user takes the number by proof, that user gets the member's place: a typed number held what was another's.
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

    /// A user who no longer has a number.
    public struct Loss: Sendable, Hashable {
        /// The number.
        public let phone: PhoneNumber
        /// The user who had it.
        public let userID: UserID
        /// The user who took it by proof; nil if no user did.
        public let prover: UserID?

        /// A loss.
        public init(phone: PhoneNumber, userID: UserID, prover: UserID? = nil) {
            self.phone = phone
            self.userID = userID
            self.prover = prover
        }
    }

    /// The owner of a number.
    public struct Standing: Sendable, Hashable {
        /// The user who has it; nil if no user has it.
        public let owner: UserID?
        /// Whether the owner has proven it.
        public let isProven: Bool

        /// A standing.
        public init(owner: UserID?, isProven: Bool) {
            self.owner = owner
            self.isProven = isProven
        }
    }

    /// Changes that are made at once: for each number at most one claim, and what it or a release takes from a user. Losses come first.
    public struct Step: Sendable, Hashable {
        /// Users who no longer have a number, in the order of the events.
        public internal(set) var losses: [Loss] = []
        /// Users who have a number now, in the order of the events. They may have had it before.
        public internal(set) var links: [Link] = []
    }

    /// The new owner of each number whose owner changed; the value is nil where no user has it any more.
    public private(set) var changedOwners: [PhoneNumber: UserID?] = [:]
    /// The owner of each number in the end, for those numbers for which the events say it.
    public private(set) var standings: [PhoneNumber: Standing] = [:]
    /// The changes to members, one after the other.
    public private(set) var steps: [Step] = []
    /// Numbers that no user has any more since an account was closed: nothing is kept of them.
    public private(set) var forgottenPhones: Set<PhoneNumber> = []

    /// Whether any user loses a number.
    public var hasLosses: Bool { steps.contains { !$0.losses.isEmpty } }

    /// The effect of events, in the order in which they happened for each number.
    ///
    /// - Parameters:
    ///   - events: those that weren't applied before.
    ///   - owners: who had each number before them; a number that isn't in it belonged to no user.
    public init(applying events: [PhoneEvent], owners: [PhoneNumber: UserID]) {
        var current = owners
        var counts: [PhoneNumber: Int] = [:]
        var forgotten: Set<PhoneNumber> = []
        for event in events {
            let index = counts[event.phone, default: 0]
            counts[event.phone] = index + 1
            if index == steps.count { steps.append(Step()) }
            let owner = current[event.phone]
            switch event.change {
            case .claimed(let userID, let takenFrom, let isProven):
                // The previous owner gets no event of their own if the number was taken by proof or their own event was lost.
                if let owner, owner != userID, owner != takenFrom {
                    steps[index].losses.append(Loss(phone: event.phone, userID: owner))
                }
                if let takenFrom, takenFrom != userID {
                    steps[index].losses.append(Loss(phone: event.phone, userID: takenFrom, prover: userID))
                }
                current[event.phone] = userID
                standings[event.phone] = Standing(owner: userID, isProven: isProven)
                steps[index].links.append(Link(phone: event.phone, userID: userID))
            case .released(let userID, let byDeletion):
                if byDeletion { forgotten.insert(event.phone) }
                // A release that comes after another user's claim must not take the number from them.
                guard owner == userID else { continue }
                current[event.phone] = nil
                standings[event.phone] = Standing(owner: nil, isProven: false)
                // A closed account leaves no member behind.
                if !byDeletion { steps[index].losses.append(Loss(phone: event.phone, userID: userID)) }
            }
        }
        steps.removeAll { $0.losses.isEmpty && $0.links.isEmpty }
        for phone in Set(events.map(\.phone)) where current[phone] != owners[phone] {
            changedOwners.updateValue(current[phone], forKey: phone)
        }
        forgottenPhones = forgotten.filter { current[$0] == nil }
    }
}
