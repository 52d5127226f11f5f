import IdentityDomain
import JOSE
import ServiceKit

/// Everything that the configuration says of one provider.
struct ProviderConfiguration: Sendable {
    /// Whose tokens are accepted, for whom.
    let policy: ProviderPolicy
    /// Where it can be asked, besides its key set.
    let endpoints: ProviderEndpoints
    /// By what our apps prove to it that they are ours, by the ids of audiences. One without can exchange no code.
    let credentials: [String: ClientCredential]
    /// Whether its access tokens sign in, and by which questions it is asked whose they are; nil if they don't.
    let accessTokens: AccessTokenKind?

    /// A provider that is asked for nothing but its keys, unless more is given.
    init(
        policy: ProviderPolicy,
        endpoints: ProviderEndpoints = ProviderEndpoints(),
        credentials: [String: ClientCredential] = [:],
        accessTokens: AccessTokenKind? = nil
    ) {
        self.policy = policy
        self.endpoints = endpoints
        self.credentials = credentials
        self.accessTokens = accessTokens
    }
}

/// The URLs of a provider that its apps or we call, besides that of its key set; nil where it has none.
struct ProviderEndpoints: Sendable, Hashable {
    /// Where a browser is sent to sign in (RFC 6749 section 3.1).
    var authorizationURL: String?
    /// Where an authorization code is exchanged (RFC 6749 section 3.2).
    var tokenURL: String?
    /// Where a token is revoked (RFC 7009).
    var revocationURL: String?
    /// Apple: where people are handed over when an app goes to another developer team.
    var userMigrationURL: String?
    /// Facebook: tells to which app an access token was issued.
    var debugTokenURL: String?
    /// Google: tells to which client an access token was issued.
    var tokenInfoURL: String?
    /// Tells whose an access token is (OpenID Connect Core section 5.3; Facebook's `/me`).
    var userInfoURL: String?
}

/// By what an app of ours proves to a provider that it is ours.
enum ClientCredential: Sendable {
    /// A client secret is minted for each call: a JWT signed with a private key of the developer team (Apple).
    case apple(teamID: String, keyID: String, key: SigningKey)
    /// A client secret that the provider gave us.
    case secret(Secret)
}

/// The questions by which a provider is asked whose an access token is.
enum AccessTokenKind: String, Sendable, Hashable, CaseIterable {
    /// `debug_token` must name our app id, then `/me` names the person.
    case facebook = "facebook"
    /// `tokeninfo` must name our client id, then `userinfo` names the person.
    case google = "google"
}
