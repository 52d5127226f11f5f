import API
import IdentityDomain
import Models
import ServiceKit

/// The methods of `vestibule.identity.v1.IdentityService`; each stands in a file of its own.
struct IdentityMethods: IdentityServiceHandler {
    let providers: [ProviderName: ProviderConfiguration]
    let keys: ProviderKeys
    let store: IdentityStore
    /// Make and verify states of sign-ins in a browser.
    let webStates: WebStateKeys
    let mint: SessionTokenMint
    let verifiedTokens: VerifiedTokens
    /// By what codes are exchanged, for providers that can.
    let codes: [ProviderName: any CodeExchanging]
    /// By what is asked whose an access token is, for providers whose access tokens sign in.
    let accessTokens: [ProviderName: any AccessTokenChecking]
    /// The dialects in which people are let in without proof; none, unless the operator says so.
    let unprovenDialects: Set<String>
    /// Hashes the addresses of clients by which is counted what is kept of one.
    let addressKey: ClientAddressKey
    let signIns: SignInMetrics
    let refreshes: RefreshMetrics
    let sessionUses: SessionUses
    /// Who is believed when they say that a refresh token came in some time ago.
    let lateCallers: CallerTrust
    let pauses: PauseWatch
    let clock: WallClock
    let identifiers: IdentifierSource
    /// That many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// The issuer of our tokens.
    var issuer: TokenIssuer { mint.issuer }
}
