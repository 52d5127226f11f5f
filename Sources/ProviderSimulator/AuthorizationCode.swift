/// The data of an authorization code.
struct AuthorizationCode: Sendable {
    /// The lifetime of a code, in seconds.
    static let lifetimeSeconds: Int64 = 300

    var provider: Provider
    var order: SignInOrder
    /// The grant that it belongs to: Apple's code is invalid once the grant is revoked. Nil for Google's codes without a refresh
    /// token.
    var grantID: String?
    var issuedAtSeconds: Int64
    var isSpent = false
}

/// The data of an access token of Google or Facebook.
struct AccessToken: Sendable {
    var provider: Provider
    var clientID: String
    var person: Person
    var tellsEmail: Bool
    var issuedAtSeconds: Int64
    var expiresAtSeconds: Int64
}
