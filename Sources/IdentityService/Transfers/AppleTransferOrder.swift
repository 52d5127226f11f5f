import IdentityDomain

/// An operator's order for a transfer of apps to another Apple developer team.
public struct AppleTransferOrder: Sendable, Hashable {
    /// The two steps of a transfer.
    public enum Step: Sendable, Hashable {
        /// As the team that the apps leave: get each user's transfer identifier for the team of this id.
        case export(to: String)
        /// As the team that the apps go to: get the new subjects of the users whom the team of this id handed over.
        case `import`(from: String)
    }

    /// The allowed values of ``perSecond``.
    public static let perSecondRange = 1...200
    /// The default of ``perSecond``.
    public static let perSecondDefault = 20

    /// The step to do.
    public var step: Step
    /// The client id for requests to Apple; nil if all apps with a key belong to one team.
    public var clientID: String?
    /// The maximum of users to ask Apple about per second, within ``perSecondRange``.
    public var perSecond: Int
    /// Whether to change nothing, and to ask Apple for an access token only.
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

/// The progress of a command.
public struct AppleTransferProgress: Sendable, Hashable {
    /// The number of users to ask about at the beginning.
    public internal(set) var total: Int64
    /// The users that are done.
    public internal(set) var done: Int64 = 0
    /// The users that were rejected, each reported by ``AppleTransferEvent/rejected(userID:reason:)``.
    public internal(set) var rejected: Int64 = 0
    /// The users that a sign-in or another command did meanwhile, or whose account is gone.
    public internal(set) var gone: Int64 = 0

    /// All users with a known result.
    public var seen: Int64 { done + rejected + gone }
}

/// A report of a running command.
public enum AppleTransferEvent: Sendable, Hashable {
    /// The command has progressed.
    case progress(AppleTransferProgress)
    /// An account whose user can't be handed over or taken over, and why: Apple's error code, or `subject_taken` with the account
    /// that has the subject.
    case rejected(userID: String, reason: String)
    /// Apple can't answer now; the next try is after so many seconds.
    case waiting(seconds: Int64)
}

/// Why a transfer ended early. Finished users stay done; the same command resumes from there.
public enum AppleTransferError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The configuration lacks a required setting.
    case notConfigured(String)
    /// The team id is invalid.
    case teamInvalid
    /// The team to hand over to, or to take over from, is the configuration's own.
    case sameTeam(String)
    /// Apple rejects the app's key.
    case refused(String)
    /// Apple knows none of the first users that it was asked about.
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
