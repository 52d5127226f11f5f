import Models

/// What a batch of events does to the numbers it is about: who has each of them in the end, and step by step what it does to the
/// members who are held, or awaited, by one of them.
///
/// The whole batch is applied in one transaction with all its numbers locked, so nobody sees the steps between. That
/// lets the effect be worked out here and written in a few statements: numbers don't touch each other, so that the first event of each
/// number is one step, the second of each the next. Mostly there is one.
///
/// A number is worth what is known of it. Whoever is a member by it alone is so for as long as it is theirs:
/// - Given up (people change SIM cards), the member stays, in doubt, until somebody who may keeps or removes them; beside them the
///   group awaits the number again, for nobody's place is lost.
/// - Had again, the doubt is gone, and what the group awaited by it.
/// - Taken by somebody's proof, the member's place is the prover's: a typed number held what was another's.
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

    /// A user who has a number no more.
    public struct Loss: Sendable, Hashable {
        /// The number.
        public let phone: PhoneNumber
        /// Who had it.
        public let userID: UserID
        /// The user who took it by proof; nil if nobody did.
        public let prover: UserID?

        /// A loss.
        public init(phone: PhoneNumber, userID: UserID, prover: UserID? = nil) {
            self.phone = phone
            self.userID = userID
            self.prover = prover
        }
    }

    /// Whose a number is.
    public struct Standing: Sendable, Hashable {
        /// Who has it; nil if nobody has.
        public let owner: UserID?
        /// Whether the owner has proven it.
        public let isProven: Bool

        /// A standing.
        public init(owner: UserID?, isProven: Bool) {
            self.owner = owner
            self.isProven = isProven
        }
    }

    /// What is done at once: for each number at most one claim, and what it or a release takes from somebody. Losses come first.
    public struct Step: Sendable, Hashable {
        /// Whoever has a number no more, in the order of the events.
        public internal(set) var losses: [Loss] = []
        /// Whoever has one now, in the order of the events. They may have had it before.
        public internal(set) var links: [Link] = []
    }

    /// Who has each number, for those whose owner changed; the value is nil where nobody has it any more.
    public private(set) var changedOwners: [PhoneNumber: UserID?] = [:]
    /// Whose each number is in the end of which the events say it.
    public private(set) var standings: [PhoneNumber: Standing] = [:]
    /// What is done to members, one after the other.
    public private(set) var steps: [Step] = []
    /// Numbers that nobody has any more since an account was closed: nothing is kept of them.
    public private(set) var forgottenPhones: Set<PhoneNumber> = []

    /// Whether anybody loses a number.
    public var hasLosses: Bool { steps.contains { !$0.losses.isEmpty } }

    /// The effect of events, in the order in which they happened for each number.
    ///
    /// - Parameters:
    ///   - events: those that weren't applied before.
    ///   - owners: who had each number before them; a number that isn't in it belonged to nobody.
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
                // Whoever had it is told of by no event of their own where it was taken, or where theirs was lost.
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
