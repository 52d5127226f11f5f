import API
import IdentityDomain
import Models
import ServiceKit
import ServiceModels
import WebAuthn

/// The methods of `vestibule.identity.v1.IdentityService`; each has its own file.
struct IdentityMethods: IdentityServiceHandler {
    let providers: [ProviderName: ProviderConfiguration]
    let keys: ProviderKeys
    let store: IdentityStore
    /// Our own keys.
    let ownKeys: CurrentKeys
    let verifiedTokens: VerifiedTokens
    /// The time before which sessions are ended, as read from the database a moment ago.
    let sessionEpoch: SessionEpoch
    /// Exchange codes, for providers that support it.
    let codes: [ProviderName: any CodeExchanging]
    /// Check access tokens, for providers whose access tokens sign in.
    let accessTokens: [ProviderName: any AccessTokenChecking]
    /// Keeps the refresh tokens that come with sign-ins.
    let grants: GrantKeeper
    /// The dialects in which users sign in without proof; none by default.
    let unprovenDialects: Set<String>
    /// Whether the error of a sign-in that is refused for its token's audience names that audience: for development.
    let namesAudiences: Bool
    let signIns: SignInMetrics
    let refreshes: RefreshMetrics
    let deletions: DeletionMetrics
    /// What guest accounts are subject to.
    let guestPolicy: GuestPolicy
    let guests: GuestMetrics
    /// How many guests came in the hour that runs.
    let guestCount: GuestCount
    /// By what passkeys are added and sign in; nil where they don't.
    let passkeys: PasskeySettings?
    let sessionUses: SessionUses
    let acknowledgements: Acknowledgements
    /// Sends ended sessions to the watchers.
    let revocations: RevocationHub
    /// Called after a commit that closed an account.
    let accountClosed: @Sendable () -> Void
    /// Makes one account absorb another.
    let absorber: AccountMerger
    /// Applies provider notices.
    let notices: NoticeApplier
    /// Whose assertions of phone numbers are accepted; nil for none.
    let phoneAssertions: PhoneAssertionPolicy?
    /// Delivers proven phone numbers to profile.
    let phoneProofs: PhoneProofs
    /// The callers that are trusted to say that a refresh token came in some time ago, and that get proofs of callers.
    let gateways: CallerTrust
    let pauses: PauseWatch
    let clock: WallClock
    let identifiers: IdentifierSource
    /// Returns so many random bytes, fit for keys.
    let randomBytes: @Sendable (Int) -> [UInt8]

    /// What opens accounts now.
    var waysIn: WaysIn {
        WaysIn(providers: Set(providers.keys.map(\.value)), relyingParty: passkeys?.relyingParty.id)
    }

    // Made from our own current keys:

    /// Determines the account that a method is called for.
    var callers: ProvenCallers { ownKeys.current.callers }
    /// Makes the tokens of a session.
    var mint: SessionTokenMint { ownKeys.current.mint }
    /// The issuer of our tokens.
    var issuer: TokenIssuer { mint.issuer }
    /// Make and verify the states of sign-ins in a browser.
    var webStates: WebStateKeys { ownKeys.current.webStates }
    /// Make and verify the nonces of sign-ins.
    var nonces: SignInNonces { ownKeys.current.nonces }
    /// Make and verify challenges of guests to come.
    var guestChallenges: GuestChallenges { ownKeys.current.guestChallenges }
    /// Make and verify challenges of passkeys.
    var passkeyChallenges: PasskeyChallenges { ownKeys.current.passkeyChallenges }
    /// Hash the phone numbers that providers sent.
    var phoneKeys: [[UInt8]] { ownKeys.current.phoneKeys }
    /// Hashes client addresses, to count the rows kept for each.
    var addressKey: ClientAddressKey { ownKeys.current.addressKey }
}
