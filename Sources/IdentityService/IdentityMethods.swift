import API
import IdentityDomain
import Models

/// The methods of `vestibule.identity.v1.IdentityService`; each stands in a file of its own.
struct IdentityMethods: IdentityServiceHandler {
    let providers: [ProviderName: ProviderConfiguration]
    let keys: ProviderKeys
    let store: IdentityStore
    let webSignIns: WebSignIns
    let mint: SessionTokenMint
    let verifiedTokens: VerifiedTokens
    let signIns: SignInMetrics
    let refreshes: RefreshMetrics
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
