import Models

/// By what it is known that a number is a user's.
public enum PhoneProof: String, Sendable, Hashable, CaseIterable {
    /// A provider that is trusted for it said so in an ID token.
    case provider
    /// The app's own backend said so.
    case assertion
    /// It was so where the account was before.
    case imported = "import"
}

/// What the proof that a number is a user's does.
///
/// A typed number is worth nothing against a proof, also one that was given up a while ago: whoever typed it loses by the proof what they
/// had by it, whether they have it still or not. One proof against another is no rule's to decide but an operator's, unless
/// whoever has the number wasn't seen for so long that it was given to somebody else since.
public enum ProvenClaim: Sendable, Hashable {
    /// Nobody had it: the user takes it.
    case take
    /// It is the user's already: it is proven from now on.
    case confirm
    /// Somebody had it who loses it by this.
    case takeOver(from: UserID)
    /// Somebody else has it by an import: identity may open their account to the user, who is them as far as anybody can tell.
    case open(UserID)
    /// Somebody else has proven it: judge that one first.
    case judge(UserID)
    /// Somebody else has proven it and keeps it.
    case conflict(with: UserID)

    /// Who has a number.
    public struct Holder: Sendable, Hashable {
        /// The user.
        public let userID: UserID
        /// Whether it is proven that the number is theirs.
        public let isProven: Bool
        /// Whether that is known by an import alone, which isn't too long ago: the account may be one that nobody can open yet.
        public let mayBeOpened: Bool

        /// A holder.
        public init(userID: UserID, isProven: Bool, mayBeOpened: Bool = false) {
            self.userID = userID
            self.isProven = isProven
            self.mayBeOpened = mayBeOpened
        }
    }

    /// What was found out of a user who has proven the number.
    public struct Judgement: Sendable, Hashable {
        /// The user.
        public let userID: UserID
        /// Whether they weren't seen for as long as the policy says.
        public let isIdle: Bool

        /// A judgement.
        public init(userID: UserID, isIdle: Bool) {
            self.userID = userID
            self.isIdle = isIdle
        }
    }

    /// Decides, while the number's row is locked.
    ///
    /// - Parameters:
    ///   - holder: who has the number, nil for nobody.
    ///   - claimant: of whom it is proven.
    ///   - mayOpen: whether whoever claims can open the holder's account.
    ///   - judgement: what was found out before; it counts for that holder alone.
    public static func decide(
        holder: Holder?,
        claimant: UserID,
        mayOpen: Bool = false,
        judgement: Judgement?
    ) -> ProvenClaim {
        guard let holder else { return .take }
        if holder.userID == claimant { return .confirm }
        guard holder.isProven else { return .takeOver(from: holder.userID) }
        if mayOpen, holder.mayBeOpened { return .open(holder.userID) }
        guard let judgement, judgement.userID == holder.userID else { return .judge(holder.userID) }
        return judgement.isIdle ? .takeOver(from: holder.userID) : .conflict(with: holder.userID)
    }

    /// Who loses by the claim what they had by the number: whoever has it, and whoever typed it before and gave it up, however shortly
    /// before the proof.
    ///
    /// - Parameter typist: the other user who typed it last and gave it up; nil for none.
    public func losers(typedBefore typist: UserID?) -> [UserID] {
        let before = typist.map { [$0] } ?? []
        switch self {
        case .take, .confirm: return before
        case .takeOver(let holder): return [holder] + before.filter { $0 != holder }
        case .open, .judge, .conflict: return []
        }
    }

    /// Whether a proof is told so late that the user's number stays as it is: they chose another one, or gave theirs up, since it was accepted.
    ///
    /// - Parameters:
    ///   - outdatedAfterMilliseconds: from when on a choice is one that was made since; nil for one that counts whatever happened.
    ///   - chosenAtMilliseconds: when the user chose last; nil if never.
    public static func isOutdated(
        _ phone: PhoneNumber,
        outdatedAfterMilliseconds: Int64?,
        current: PhoneNumber?,
        chosenAtMilliseconds: Int64?
    ) -> Bool {
        guard let outdatedAfterMilliseconds, let chosenAtMilliseconds else { return false }
        return phone != current && chosenAtMilliseconds >= outdatedAfterMilliseconds
    }

    /// Whether a number that came in with an import at a time still opens the account that it came with. Later it may be somebody
    /// else's by now, and nobody was seen who could tell.
    public static func opens(importedAtMilliseconds: Int64, idleMilliseconds: Int64, nowMilliseconds: Int64) -> Bool {
        nowMilliseconds - importedAtMilliseconds < idleMilliseconds
    }

    /// Whether somebody who was seen last at a time was not seen for long enough. One of whom nothing is known is not idle: that a
    /// number is proven is worth more than that nothing is known.
    public static func isIdle(lastSeenMilliseconds: Int64, idleMilliseconds: Int64, nowMilliseconds: Int64) -> Bool {
        lastSeenMilliseconds > 0 && nowMilliseconds - lastSeenMilliseconds >= idleMilliseconds
    }
}
