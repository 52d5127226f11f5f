import Models

/// The evidence that a number is a user's.
public enum PhoneProof: String, Sendable, Hashable, CaseIterable {
    /// A provider that is trusted for phone numbers stated it in an ID token.
    case provider
    /// The app's own backend stated it.
    case assertion
    /// It was proven in the system that the account was imported from.
    case imported = "import"
}

/// The effect of a proof that a number is a user's.
///
/// A typed number is worth nothing against a proof, even one that was given up a while ago: the user who typed it loses what they had by
/// it, whether they still have it or not. For one proof against another there is no rule: an operator decides, unless the holder wasn't
/// seen for so long that the number was given to another person since.
public enum ProvenClaim: Sendable, Hashable {
    /// No user had it: the claimant takes it.
    case take
    /// The user has it already: it is proven from now on.
    case confirm
    /// Another user had it and loses it by this claim.
    case takeOver(from: UserID)
    /// Another user has it by an import: identity may open their account to the claimant, who is the same person as far as anybody can
    /// tell.
    case open(UserID)
    /// Another user has proven it: judge that user first.
    case judge(UserID)
    /// Another user has proven it and keeps it.
    case conflict(with: UserID)

    /// The user who has a number.
    public struct Holder: Sendable, Hashable {
        /// The user.
        public let userID: UserID
        /// Whether it is proven that the number is theirs.
        public let isProven: Bool
        /// Whether that is known by an import alone, and the import wasn't too long ago: perhaps nobody can open the account yet.
        public let mayBeOpened: Bool

        /// A holder.
        public init(userID: UserID, isProven: Bool, mayBeOpened: Bool = false) {
            self.userID = userID
            self.isProven = isProven
            self.mayBeOpened = mayBeOpened
        }
    }

    /// What was found out about a user who has proven the number.
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
    ///   - holder: the user who has the number; nil for none.
    ///   - claimant: the user for whom it is proven.
    ///   - mayOpen: whether the claimant can open the holder's account.
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

    /// The users who lose by the claim what they had by the number: the holder, and the user who typed it before and gave it up, however
    /// shortly before the proof.
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

    /// Returns whether a proof arrives so late that the user's number stays: the user chose another one, or gave it up, after it was
    /// accepted.
    ///
    /// - Parameters:
    ///   - outdatedAfterMilliseconds: a choice after this time is newer than the proof; nil for a proof that always counts.
    ///   - chosenAtMilliseconds: when the user last chose; nil if never.
    public static func isOutdated(
        _ phone: PhoneNumber,
        outdatedAfterMilliseconds: Int64?,
        current: PhoneNumber?,
        chosenAtMilliseconds: Int64?
    ) -> Bool {
        guard let outdatedAfterMilliseconds, let chosenAtMilliseconds else { return false }
        return phone != current && chosenAtMilliseconds >= outdatedAfterMilliseconds
    }

    /// Returns whether an imported number still opens the account that it came with. Later it may belong to another person, and nobody was
    /// seen who could tell.
    public static func opens(importedAtMilliseconds: Int64, idleMilliseconds: Int64, nowMilliseconds: Int64) -> Bool {
        nowMilliseconds - importedAtMilliseconds < idleMilliseconds
    }

    /// Returns whether a user was not seen for long enough. A user of whom nothing is known is not idle: a proof is worth more than missing
    /// knowledge.
    public static func isIdle(lastSeenMilliseconds: Int64, idleMilliseconds: Int64, nowMilliseconds: Int64) -> Bool {
        lastSeenMilliseconds > 0 && nowMilliseconds - lastSeenMilliseconds >= idleMilliseconds
    }
}
