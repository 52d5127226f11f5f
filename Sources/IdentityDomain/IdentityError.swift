import Models

/// Everything that the rules of this service can refuse.
public enum IdentityError: Error, Sendable, Hashable {
    /// The provider's ID token was refused.
    case token(TokenRejection)
    /// The provider's ID token was rejected for its audience, which development mode reveals.
    case tokenAudience(String)
    /// No provider of that name is configured.
    case providerUnknown
    /// The provider's keys cannot be had now.
    case providerUnavailable
    /// Not a refresh token of ours.
    case refreshTokenInvalid
    /// A refresh token that was exchanged before: its session is ended now (RFC 9700 section 4.14.2).
    case refreshTokenReused
    /// Not an access token of ours.
    case accessTokenInvalid
    /// An access token past its time.
    case accessTokenExpired
    /// The token is ours, but its session is not known.
    case sessionInvalid
    /// The session reached one of its limits.
    case sessionExpired
    /// The session was ended.
    case sessionRevoked
    /// The client has not proven possession of the key that the token or the app is bound to (RFC 9449).
    case keyNotProven
    /// The session is without proof, and good only in the dialect that opened it.
    case sessionUnproven
    /// The account has no such session.
    case sessionNotFound
    /// A session can't be given that name.
    case deviceNameInvalid(TextError)
    /// A sign-in was refused for another reason than its ID token alone.
    case signIn(SignInRefusal)
    /// A question to a provider, which a sign-in needs, let nobody in.
    case exchange(ExchangeRefusal)
    /// A sign-out that names no token.
    case tokenMissing
    /// A sign-out of a scope that we don't know.
    case scopeUnknown
    /// Metadata that is no JSON object, or nested too deeply.
    case metadataInvalid
    /// Metadata that is too long or has too many values, or would be after a change.
    case metadataTooLarge
    /// Too many others changed the metadata at the same time.
    case metadataContended
    /// The user id is no UUID.
    case userIDInvalid
    /// A sign-in in a browser was refused.
    case web(WebSignInError)
    /// What is asked needs a better sign-in: one of the last seconds of this number (0: of any age) that is proven as
    /// ``AccountAct/acceptedContexts`` are.
    case signInInsufficient(SignInLack, maxAgeSeconds: Int64)
    /// Credentials are proven by less than a nonce or an authorization code.
    case proofRequired
    /// Credentials that must be of the caller's account are of another one, or of none.
    case credentialsForeign
    /// A provider that was linked a short time ago takes no older one away yet, for so many seconds.
    case providerLinkedTooRecently(waitSeconds: Int64)
    /// What a provider told was refused.
    case notice(NoticeRejection)
    /// The providers of an account stay as they are.
    case link(LinkRefusal)
    /// There is no such account.
    case accountNotFound
    /// What an operator asked for was refused.
    case operation(OperatorRefusal)
    /// An assertion of a phone number is not believed.
    case phoneAssertion(PhoneAssertionRejection)
    /// A proven phone number isn't the user's all the same.
    case phoneProof(PhoneProofRefusal)
    /// The person has asked about too many e-mail addresses.
    case tooManyAddresses(retryAfterMilliseconds: Int64)
    /// What has to do with guests was refused.
    case guest(GuestRefusal)
    /// What has to do with passkeys was refused.
    case passkey(PasskeyRefusal)
    /// A recovery code was refused.
    case recovery(RecoveryRefusal)
    /// Another service's event about a user is rejected.
    case event(EventRefusal)

    /// The error of an act that ``AccountAct`` refuses.
    ///
    /// - Parameter recentSeconds: the greatest age of a sign-in that is recent; 0 for every age.
    public init(_ refusal: AccountAct.Refusal, recentSeconds: Int64) {
        self =
            switch refusal {
            case .recentSignInRequired: .signInInsufficient(.tooOld, maxAgeSeconds: recentSeconds)
            case .proofRequired: .signInInsufficient(.unproven, maxAgeSeconds: recentSeconds)
            case .guestNotAllowed: .guest(.notAllowed)
            }
    }
}

/// What a sign-in lacks for an ``AccountAct``.
public enum SignInLack: Sendable, Hashable {
    /// It is too long ago.
    case tooOld
    /// It was proven by less than a nonce, a code or a passkey: another sign-in of that kind doesn't help.
    case unproven
}
