/// An operation.
public enum Operation: Int, Sendable, Hashable, CaseIterable {
    /// Checks the session of an access token. At the gateway `GET /me`, its cheapest request with such a check.
    case checkSession
    /// Refreshes a session.
    case refresh
    /// Signs in with a provider's token.
    case signIn
    /// Reads a profile.
    case getProfile
    /// Changes a profile's name.
    case updateProfile
    /// Saves a profile with a name and an unused phone number.
    case claimPhone
    /// Refreshes a session, then checks it with the new access token: like an app that is opened again.
    case refreshAndCheck

    /// Its name in reports.
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

/// The calls of a run, and their proportions.
public enum Scenario: String, Sendable, Hashable, CaseIterable {
    /// Session checks only.
    case checkSession = "check-session"
    /// Refreshes only, one at a time for each session.
    case refresh
    /// Refreshes, each followed by a check of the new access token; both count as one call.
    case refreshAndCheck = "refresh-and-check"
    /// Sign-ins only, each with a new provider token.
    case signIn = "sign-in"
    /// Four profiles read, one changed.
    case profile
    /// Claims of phone numbers only, each of a new one, with each account in turn.
    case claimPhone = "claim-phone"
    /// Like a day of an app: of 20 calls 12 checks, 4 profiles read, 1 changed, 2 refreshes, 1 sign-in.
    case mixed

    /// The calls in order, repeated. Fixed, so that two runs make the same calls.
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

    /// Whether it can use sessions of which only the tokens are known.
    public var takesSessions: Bool { !needsProfiles && !round.contains(.signIn) }

    /// The number of sign-ins among that many calls, rounded up.
    func signInCount(amongCalls count: Int) -> Int {
        let signIns = round.count { $0 == .signIn }
        return (count * signIns + round.count - 1) / round.count
    }
}
