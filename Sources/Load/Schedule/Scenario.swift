/// What is called.
public enum Operation: Int, Sendable, Hashable, CaseIterable {
    /// Is this access token's session alive? At the JSON edge `GET /me`, its cheapest request that asks this.
    case checkSession
    /// The next tokens of a session.
    case refresh
    /// A session for a provider's token.
    case signIn
    /// Reads a profile.
    case getProfile
    /// Changes a profile's name.
    case updateProfile
    /// Takes a phone number that nobody has, in a profile with a name.
    case claimPhone
    /// The next tokens of a session, and then whether the new access token's session is alive: as a phone that comes back.
    case refreshAndCheck

    /// As reports call it.
    public var name: String {
        switch self {
        case .checkSession: "check-session"
        case .refresh: "refresh"
        case .signIn: "sign-in"
        case .getProfile: "get-profile"
        case .updateProfile: "update-profile"
        case .claimPhone: "claim-phone"
        case .refreshAndCheck: "refresh-and-check"
        }
    }
}

/// Which calls a run makes, and how many of each.
public enum Scenario: String, Sendable, Hashable, CaseIterable {
    /// Session checks only.
    case checkSession = "check-session"
    /// Refreshes only, each session's one after the other.
    case refresh
    /// Refreshes, each with one check of the new access token behind it; both are one call.
    case refreshAndCheck = "refresh-and-check"
    /// Sign-ins only, each with a provider token of its own.
    case signIn = "sign-in"
    /// Four profiles read, one changed.
    case profile
    /// Numbers taken only, each a new one, the accounts in turn.
    case claimPhone = "claim-phone"
    /// As a day in an app's life: of 20 calls 12 checks, 4 profiles read, 1 changed, 2 refreshes, 1 sign-in.
    case mixed

    /// The calls in their order, which repeats. Fixed, so that two runs do the same.
    public var round: [Operation] {
        switch self {
        case .checkSession: [.checkSession]
        case .refresh: [.refresh]
        case .refreshAndCheck: [.refreshAndCheck]
        case .signIn: [.signIn]
        case .profile: [.getProfile, .getProfile, .updateProfile, .getProfile, .getProfile]
        case .claimPhone: [.claimPhone]
        case .mixed:
            [
                .checkSession, .getProfile, .checkSession, .checkSession, .refresh, .checkSession, .getProfile,
                .checkSession, .checkSession, .signIn, .checkSession, .getProfile, .checkSession, .checkSession,
                .refresh, .checkSession, .updateProfile, .checkSession, .getProfile, .checkSession,
            ]
        }
    }

    /// Whether the accounts need a profile before the first call.
    var needsProfiles: Bool { round.contains(.getProfile) || round.contains(.updateProfile) }

    /// Whether profile is called.
    var callsProfile: Bool { needsProfiles || round.contains(.claimPhone) }

    /// Whether it can call with sessions of which only tokens are known.
    public var takesSessions: Bool { !needsProfiles && !round.contains(.signIn) }

    /// How many sign-ins there are among so many calls, rounded up.
    func signInCount(amongCalls count: Int) -> Int {
        let signIns = round.count { $0 == .signIn }
        return (count * signIns + round.count - 1) / round.count
    }
}
