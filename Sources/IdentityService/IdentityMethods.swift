import API
import IdentityDomain
import Models
import ServiceKit
import ServiceModels

/// The methods of `vestibule.identity.v1.IdentityService`; each stands in a file of its own.
struct IdentityMethods: IdentityServiceHandler {
    let providers: [ProviderName: ProviderConfiguration]
    let keys: ProviderKeys
    let store: IdentityStore
    /// Our own keys.
    let ownKeys: CurrentKeys
    let verifiedTokens: VerifiedTokens
    /// From when on sessions count, as the database said a moment ago.
    let sessionEpoch: SessionEpoch
    /// By what codes are exchanged, for providers that can.
    let codes: [ProviderName: any CodeExchanging]
    /// By what is asked whose an access token is, for providers whose access tokens sign in.
    let accessTokens: [ProviderName: any AccessTokenChecking]
    /// Keeps the refresh tokens that come with sign-ins.
    let grants: GrantKeeper
    /// The dialects in which people are let in without proof; none, unless the operator says so.
    let unprovenDialects: Set<String>
    /// Whether a sign-in that is refused for the audience of its token is answered with that audience: for development.
    let namesAudiences: Bool
    let signIns: SignInMetrics
    let refreshes: RefreshMetrics
    let deletions: DeletionMetrics
    let sessionUses: SessionUses
    let acknowledgements: Acknowledgements
    /// Tells who watches which sessions end.
    let revocations: RevocationHub
    /// Called after a commit that closed an account.
    let accountClosed: @Sendable () -> Void
    /// Has one account absorb another.
    let absorber: AccountMerger
    /// Applies what providers told.
    let notices: NoticeApplier
    /// Whose assertions of phone numbers are believed; nil for nobody's.
    let phoneAssertions: PhoneAssertionPolicy?
    /// Tells profile which numbers are proven.
    let phoneProofs: PhoneProofs
    /// Who is believed when they say that a refresh token came in some time ago, and is given proofs of callers.
    let gateways: CallerTrust
    let pauses: PauseWatch
    let clock: WallClock
    let identifiers: IdentifierSource
    /// That many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    // What is made of our own keys, as they are now.

    /// Tells whose account a method is called for.
    var callers: ProvenCallers { ownKeys.current.callers }
    /// Makes what apps keep of a session.
    var mint: SessionTokenMint { ownKeys.current.mint }
    /// The issuer of our tokens.
    var issuer: TokenIssuer { mint.issuer }
    /// Make and verify states of sign-ins in a browser.
    var webStates: WebStateKeys { ownKeys.current.webStates }
    /// Make and verify nonces of sign-ins.
    var nonces: SignInNonces { ownKeys.current.nonces }
    /// Hash the numbers that providers told.
    var phoneKeys: [[UInt8]] { ownKeys.current.phoneKeys }
    /// Hashes the addresses of clients by which is counted what is kept of one.
    var addressKey: ClientAddressKey { ownKeys.current.addressKey }
}
