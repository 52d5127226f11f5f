import IdentityDomain

/// What an operator asks for when apps go to another developer team of Apple's.
public struct AppleTransferOrder: Sendable, Hashable {
    /// Which half of it.
    public enum Step: Sendable, Hashable {
        /// As the team that the apps leave: what to hand over of each person to the team of this id.
        case export(to: String)
        /// As the team that they come to: who the people are that the team of this id handed over.
        case `import`(from: String)
    }

    /// How many people Apple is asked about in a second, at most.
    public static let perSecondRange = 1...200
    /// The same where nothing is said.
    public static let perSecondDefault = 20

    /// Which half.
    public var step: Step
    /// The app that asks; nil if there is no question which.
    public var clientID: String?
    /// How many people Apple is asked about in a second at most, within ``perSecondRange``.
    public var perSecond: Int
    /// Whether nothing is to be changed, and Apple asked for an access token alone.
    public var isDry: Bool

    /// An order.
    public init(
        _ step: Step,
        clientID: String? = nil,
        perSecond: Int = AppleTransferOrder.perSecondDefault,
        isDry: Bool = false
    ) {
        self.step = step
        self.clientID = clientID
        self.perSecond = perSecond
        self.isDry = isDry
    }
}

/// How far a command is.
public struct AppleTransferProgress: Sendable, Hashable {
    /// How many there were to be asked about at the beginning.
    public internal(set) var total: Int64
    /// Those of whom it is done.
    public internal(set) var done: Int64 = 0
    /// Those of whom it can't be: each was told of (``AppleTransferEvent/rejected(userID:reason:)``).
    public internal(set) var rejected: Int64 = 0
    /// Those whom somebody else did meanwhile, a sign-in of theirs or another command, or whose account is gone.
    public internal(set) var gone: Int64 = 0

    /// All of whom an answer is known.
    public var seen: Int64 { done + rejected + gone }
}

/// What a command tells while it works.
public enum AppleTransferEvent: Sendable, Hashable {
    /// More is done.
    case progress(AppleTransferProgress)
    /// An account whose person can't be handed over or taken over, and why: a word of Apple's, or `subject_taken` with the account
    /// that has the subject.
    case rejected(userID: String, reason: String)
    /// Apple can't answer now, and is asked again after so many seconds.
    case waiting(seconds: Int64)
}

/// Why a transfer ended before its end. What was done stays done; the same command goes on from there.
public enum AppleTransferError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The configuration has not what it takes.
    case notConfigured(String)
    /// That is no team's id.
    case teamInvalid
    /// The team to hand over to, or to take over from, is the configuration's own.
    case sameTeam(String)
    /// Apple doesn't take the app's key.
    case refused(String)
    /// Of the first that Apple was asked about it knows none.
    case allRejected(Int64)
    /// Apple did not answer for too long.
    case unavailable

    /// One line.
    public var description: String {
        switch self {
        case .notConfigured(let problem): problem
        case .teamInvalid: "a team's id is ten capital letters and digits"
        case .sameTeam(let team):
            "\(team) is the team whose key the configuration has: export runs with the key of the team that the apps leave, "
                + "import with the key of the one that they come to"
        case .refused(let error):
            "Apple doesn't take the app's key (\(error)): compare team id, key id, key file and client id"
        case .allRejected(let count):
            "Apple knows none of the first \(count) people: is it the right team, and were the apps transferred as this step wants it?"
        case .unavailable: "Apple doesn't answer; the same command goes on later where this one ended"
        }
    }
}
