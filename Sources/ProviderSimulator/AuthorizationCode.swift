/// What an authorization code stands for.
struct AuthorizationCode: Sendable {
    /// How long it lives, in seconds.
    static let lifetimeSeconds: Int64 = 300

    var provider: Provider
    var order: SignInOrder
    /// The grant that it is a part of: Apple's code is worth nothing once that is revoked. Nil for Google's codes that bring no
    /// refresh token.
    var grantID: String?
    var issuedAtSeconds: Int64
    var isSpent = false
}

/// What an access token of Google or Facebook stands for.
struct AccessToken: Sendable {
    var provider: Provider
    var clientID: String
    var person: Person
    var tellsEmail: Bool
    var issuedAtSeconds: Int64
    var expiresAtSeconds: Int64
}
