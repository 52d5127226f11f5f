/// Whether an imported account that nobody can sign in to is opened for the person of another one, which it absorbs.
///
/// An account that came in with a phone number alone has nobody who could be asked. So whatever isn't certain is a no, and an operator
/// may look.
public enum AccountOpening {
    /// By what it is known that the account is the person's.
    public enum Ground: Sendable, Hashable {
        /// They have proven its number: by `provider` or `assertion`, and in a session that was itself proven by a nonce or a code, or
        /// not. Another session of theirs counts for nothing: it may be another person's who got hold of a token.
        case proof(String, isSignInProven: Bool)
        /// An operator says so, by the name in their certificate; nil where callers have none.
        case byOperator(String?)
    }

    /// Why an account isn't opened.
    public enum Refusal: Error, Sendable, Hashable, CaseIterable {
        /// It isn't there any more.
        case gone
        /// The other account isn't there any more.
        case claimantGone
        /// One of the two is blocked.
        case blocked
        /// It wasn't imported, or somebody can open it: it has a provider or a session.
        case notOpenable
        /// The other account isn't empty, not each of its providers may open an account, or the sign-in that brought the number was
        /// proven by a token alone.
        case notAbsorbable
    }

    /// What is known of the account that would be opened, under the locks of all that it consists of.
    public struct Holder: Sendable, Hashable {
        /// Whether it came in from another backend.
        public let isImported: Bool
        /// Whether an operator, or the former backend, keeps its person out.
        public let isBlocked: Bool
        /// How many identities sign in to it, those that mustn't now among them.
        public let identityCount: Int
        /// Whether it has a session that wasn't ended.
        public let hasSessions: Bool

        /// What is known.
        public init(isImported: Bool, isBlocked: Bool, identityCount: Int, hasSessions: Bool) {
            self.isImported = isImported
            self.isBlocked = isBlocked
            self.identityCount = identityCount
            self.hasSessions = hasSessions
        }

        /// Whether nobody can sign in to it, or ever could since it came in.
        public var isOpenable: Bool { isImported && identityCount == 0 && !hasSessions }
    }

    /// What is known of the account that would be absorbed.
    public struct Claimant: Sendable, Hashable {
        /// Whether an operator keeps its person out.
        public let isBlocked: Bool
        /// Of each identity whether it opens the account everywhere: proven, and not disabled.
        public let identities: [Bool]

        /// What is known.
        public init(isBlocked: Bool, identities: [Bool]) {
            self.isBlocked = isBlocked
            self.identities = identities
        }
    }

    /// Decides what this service knows; whether the other account is empty is for others to say.
    ///
    /// - Parameters:
    ///   - holder: nil if it isn't there.
    ///   - claimant: nil if it isn't there.
    ///   - ground: by what it would be opened; an operator may know the person otherwise.
    /// - Returns: nil if it is opened.
    public static func refusal(holder: Holder?, claimant: Claimant?, ground: Ground) -> Refusal? {
        guard let holder else { return .gone }
        guard let claimant else { return .claimantGone }
        if holder.isBlocked || claimant.isBlocked { return .blocked }
        guard holder.isOpenable else { return .notOpenable }
        guard !claimant.identities.isEmpty, claimant.identities.allSatisfy({ $0 }) else { return .notAbsorbable }
        switch ground {
        case .proof(_, let isSignInProven): return isSignInProven ? nil : .notAbsorbable
        case .byOperator: return nil
        }
    }
}
