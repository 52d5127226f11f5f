import IdentityDomain

/// An audience's rules in words, for operators.
extension AudiencePolicy {
    /// What proves a sign-in with an ID token.
    var proofInWords: String {
        let match = "the nonce (\(match.rawValue))"
        return switch (nonce, withoutNonce) {
        case (.server, _):
            "a nonce that the server made at most \(SignInNonces.lifetimeSeconds / 60) minutes ago (\(self.match.rawValue))"
        case (.required, _), (_, .refuse): match
        case (.optional, .code): "\(match); for a token without one, the authorization code that comes along"
        case (.optional, .fresh): "\(match); for a token without one, that it is \(Self.freshInWords)"
        case (.unknown, .code): "\(match) where the app knows it, else the authorization code that comes along"
        case (.unknown, .fresh): "\(match) where the app knows it, else that the token is \(Self.freshInWords)"
        }
    }

    /// What a thief or another backend could still do, or an honest user run into; empty if there is nothing beyond what holds for
    /// every audience.
    var leftOpenInWords: [String] {
        var lines: [String] = []
        if withoutNonce == .fresh { lines.append(Self.freshLeavesOpen) }
        if match != .sha256 {
            lines.append(
                "the nonce can be read in the token: a thief who steals one before its owner used it can sign in with it"
            )
        }
        return lines
    }

    private static let freshInWords = "at most \(freshSecondsMax / 60) minutes old and was not used"

    /// What ``WithoutNonce/fresh`` leaves open.
    static let freshLeavesOpen =
        "another backend of this audience could use a token first; a token that an SDK restored silently is answered with "
        + "\"sign in again\""
}
