import IdentityDomain
import JOSE
import ServiceKit

/// The whole configuration of one provider.
struct ProviderConfiguration: Sendable {
    /// Which tokens are accepted.
    let policy: ProviderPolicy
    /// Its endpoints, besides the key set.
    let endpoints: ProviderEndpoints
    /// The credentials of our apps at the provider, by the ids of audiences. Without one, codes can be exchanged only with a PKCE
    /// verifier, and never at Apple.
    let credentials: [String: ClientCredential]
    /// How access tokens are checked; nil if they don't sign in.
    let accessTokens: AccessTokenKind?
    /// The provider's name for users; nil if none is configured.
    let displayName: String?

    /// A provider with only its key set, unless more is given.
    init(
        policy: ProviderPolicy,
        endpoints: ProviderEndpoints = ProviderEndpoints(),
        credentials: [String: ClientCredential] = [:],
        accessTokens: AccessTokenKind? = nil,
        displayName: String? = nil
    ) {
        self.policy = policy
        self.endpoints = endpoints
        self.credentials = credentials
        self.accessTokens = accessTokens
        self.displayName = displayName
    }
}

/// The URLs of a provider that its apps or we call, besides that of its key set; nil if it has none.
struct ProviderEndpoints: Sendable, Hashable {
    /// Where a browser is sent to sign in (RFC 6749 section 3.1).
    var authorizationURL: String?
    /// Where an authorization code is exchanged (RFC 6749 section 3.2).
    var tokenURL: String?
    /// Where a token is revoked (RFC 7009).
    var revocationURL: String?
    /// Apple: where users are handed over when an app moves to another developer team.
    var userMigrationURL: String?
    /// Facebook: returns the app that an access token was issued to.
    var debugTokenURL: String?
    /// Google: returns the client that an access token was issued to.
    var tokenInfoURL: String?
    /// Returns the user of an access token (OpenID Connect Core section 5.3; Facebook's `/me`).
    var userInfoURL: String?
}

/// The credential by which our app authenticates itself to a provider.
enum ClientCredential: Sendable {
    /// A client secret is minted for each call: a JWT signed with a private key of the developer team (Apple).
    case apple(teamID: String, keyID: String, key: SigningKey)
    /// A client secret that the provider gave us.
    case secret(Secret)
}

/// The requests by which an access token is checked.
enum AccessTokenKind: String, Sendable, Hashable, CaseIterable {
    /// `debug_token` must name our app id, then `/me` names the user.
    case facebook = "facebook"
    /// `tokeninfo` must name our client id, then `userinfo` names the user.
    case google = "google"
}
