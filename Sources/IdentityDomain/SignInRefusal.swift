/// Why a sign-in was refused, where it isn't for its ID token alone: one case for each reason on the wire.
public enum SignInRefusal: Error, Sendable, Hashable, CaseIterable {
    /// Nothing to sign in by, or a code where none can be spent.
    case credentialsMissing
    /// The provider has no client of that id.
    case clientUnknown
    /// The token proves nothing by itself: a code must come along.
    case codeRequired
    /// The code was used before.
    case codeSpent
    /// The code is another person's or another app's.
    case codeForeign
    /// The app signs in with an ID token that carries a nonce of ours and with nothing else.
    case nonceRequired
    /// The nonce is none of ours for this app.
    case nonceUnknown
    /// The nonce was made too long ago.
    case nonceExpired
    /// The provider can exchange no code for this client: its credentials are not configured.
    case exchangeNotConfigured
    /// The token is too old to prove a sign-in without a nonce.
    case tokenStale
    /// The credentials name somebody else than the app says.
    case subjectDiffers
    /// The ticket is unknown, was taken or is over, or its verifier is missing or wrong.
    case ticketInvalid
    /// Nothing proves who signs in, and nobody is let in without.
    case proofRequired
    /// Somebody has registered as this person.
    case accountExists
    /// The provider says that its account is disabled.
    case providerAccountDisabled
    /// An operator keeps the account's person out.
    case accountBlocked
    /// The address to reserve is none.
    case emailInvalid
    /// Another account has reserved the address.
    case emailTaken
}
