import JOSE
import Models

/// What verified credentials and the app say, ready to be stored: everything that one sign-in changes.
public struct SignIn: Sendable, Hashable {
    /// SHA-256 over what the provider signed, or of what it knows the sign-in by: it buys one session.
    public private(set) var fingerprint: [UInt8]
    /// A second fingerprint by which a retry finds the session; nil if there is none.
    public private(set) var retryFingerprint: [UInt8]?
    /// The hash of the ticket that is used up by this; nil for one without ticket.
    public var ticketHash: [UInt8]?
    /// The passkey that signs in; nil for any other sign-in.
    public let passkeyID: PasskeyID?
    /// The provider.
    public let provider: ProviderName
    /// The provider's name for the person.
    public let subject: String
    /// By what Apple lets the person's account be found after the app went to another team (``ProviderClaims/transferSubject``).
    public let transferSubject: String?
    /// The app.
    public let clientID: String
    /// How it is proven.
    public let proof: Proof
    /// Whether the credentials may buy a session now, or get only the one that they bought: a token that is proven by
    /// being fresh may be too old for the first.
    public let mayBeFirst: Bool
    /// Whether somebody new gets an account.
    public var createsAccount: Bool
    /// The e-mail to show and write to; nil keeps the one that is known.
    public let email: String?
    /// Whether the e-mail is only what the app says: it never takes the place of one that a token told.
    public let isEmailTold: Bool
    /// Whether the provider verified it.
    public let isEmailVerified: Bool
    /// Whether it is a relay address.
    public let isPrivateEmail: Bool
    /// The name that the app sent.
    public let fullName: String?
    /// The token's name, used if the app sent none. If there is neither, the stored name stays.
    public let tokenName: String?
    /// The device as its app calls it.
    public let deviceName: String?
    /// Apple's guess whether the person is real; nil keeps the one that is known.
    public let realUserStatus: Int16?
    /// When the token was issued, in Unix seconds: one from before all sessions were ended is refused.
    public let issuedAtSeconds: Int64
    /// Until when the token would be accepted, in Unix seconds: so long its fingerprint is kept.
    public let acceptedUntilSeconds: Int64
    /// The phone number that the provider says is the person's, and is trusted for; nil if it says none.
    public let provenPhone: String?
    /// Finds the details that came with these credentials before they could be verified (``FirstSignInDetails/key``).
    public private(set) var toldOnceKeys: [[UInt8]]

    /// Puts together what is kept of a sign-in. What the app says is taken only where the token says nothing, and
    /// dropped where it is no name or e-mail: nothing of it is a reason to refuse.
    ///
    /// - Parameters:
    ///   - evidence: what was verified, and what came with it.
    ///   - nowSeconds: the time, in Unix seconds.
    ///   - leewaySeconds: how far the provider's clock may be from ours.
    public init(
        _ evidence: Evidence,
        provider: ProviderName,
        deviceName: String,
        createsAccount: Bool,
        nowSeconds: Int64,
        leewaySeconds: Int64
    ) {
        let claims = evidence.claims
        passkeyID = nil
        fingerprint = evidence.fingerprint
        retryFingerprint = evidence.retryFingerprint
        ticketHash = evidence.ticketHash
        self.provider = provider
        subject = claims.subject
        transferSubject = claims.transferSubject
        clientID = claims.audience
        proof = evidence.proof
        mayBeFirst = proof != .fresh || claims.isFresh(nowSeconds: nowSeconds, leewaySeconds: leewaySeconds)
        self.createsAccount = createsAccount
        email = claims.email ?? EmailAddress.accept(evidence.email)
        isEmailTold = claims.email == nil && email != nil
        isEmailVerified = claims.email != nil && claims.isEmailVerified
        isPrivateEmail = claims.email != nil && claims.isPrivateEmail
        fullName = ProviderGivenName.accept(evidence.fullName)
        tokenName = claims.name.flatMap(ProviderGivenName.accept)
        self.deviceName = DeviceName.accept(deviceName)
        realUserStatus = claims.realUserStatus
        issuedAtSeconds = claims.issuedAtSeconds
        acceptedUntilSeconds = max(claims.acceptedUntilSeconds, evidence.acceptedUntilSeconds)
        toldOnceKeys = evidence.toldOnceKeys
        provenPhone = claims.phoneNumber
    }

    /// A sign-in by a passkey of an account. It makes no account, and says nothing of the person.
    ///
    /// - Parameters:
    ///   - passkey: which one.
    ///   - subject: the subject of the account's identity ``ProviderName/passkey``.
    ///   - relyingParty: the RP ID, in the place of an app.
    ///   - challenge: what the passkey has answered. Together they buy one session: a challenge names nobody, and another passkey that
    ///     answers it must not find this session.
    public init(
        passkey: PasskeyID,
        of subject: String,
        relyingParty: String,
        challenge: SpentChallenge,
        deviceName: String
    ) {
        passkeyID = passkey
        fingerprint = SHA256.hash(Array("vestibule passkey sign-in 1\0".utf8) + challenge.fingerprint + passkey.bytes)
        provider = .passkey
        self.subject = subject
        transferSubject = nil
        clientID = relyingParty
        proof = .passkey
        mayBeFirst = true
        createsAccount = false
        (email, isEmailTold, isEmailVerified, isPrivateEmail) = (nil, false, false, false)
        (fullName, tokenName, realUserStatus, provenPhone) = (nil, nil, nil, nil)
        self.deviceName = DeviceName.accept(deviceName)
        issuedAtSeconds = challenge.endsAtSeconds - PasskeyChallenges.lifetimeSeconds
        acceptedUntilSeconds = challenge.endsAtSeconds
        toldOnceKeys = []
    }

    /// The sign-in that opens a session once the same credentials have linked their identity. Linking has used them up, so it goes by
    /// a fingerprint of its own, which buys one session and finds it again on a retry. It makes no account.
    public var afterLinking: SignIn {
        var opening = self
        opening.fingerprint = SHA256.hash(Array("vestibule linked session 1\0".utf8) + fingerprint)
        (opening.retryFingerprint, opening.ticketHash, opening.createsAccount) = (nil, nil, false)
        opening.toldOnceKeys = []
        return opening
    }
}

/// Credentials that were verified: whom they name, and what proves it.
public struct Evidence: Sendable, Hashable {
    /// What buys one session.
    public var fingerprint: [UInt8]
    /// A second fingerprint of the same sign-in.
    public var retryFingerprint: [UInt8]?
    /// The ticket that they came by.
    public var ticketHash: [UInt8]?
    /// What they say of the person.
    public var claims: ProviderClaims
    /// What proves it.
    public var proof: Proof
    /// Until when anything of them would be accepted, if that is longer than the claims say.
    public var acceptedUntilSeconds: Int64 = 0
    /// The name that the app sent.
    public var fullName: String
    /// The e-mail that the app sent.
    public var email: String
    /// Where something told may be kept from before.
    public var toldOnceKeys: [[UInt8]]
    /// The provider's refresh token, if a code was exchanged and brought one. A secret.
    public var refreshToken: String?
    /// A code that came along and was not exchanged, since something else proves the sign-in.
    public var unexchangedCode: CodeGrant?
    /// The session that tickets were made for, to link by them; nil for what may sign in.
    public var linkingSession: SessionID?

    /// Evidence of a person.
    public init(
        fingerprint: [UInt8],
        claims: ProviderClaims,
        proof: Proof,
        fullName: String,
        email: String,
        toldOnceKeys: [[UInt8]]
    ) {
        self.fingerprint = fingerprint
        self.claims = claims
        self.proof = proof
        self.fullName = fullName
        self.email = email
        self.toldOnceKeys = toldOnceKeys
    }
}

/// A sign-in that happened before with the same token.
public struct EarlierSignIn: Sendable, Hashable {
    /// When it happened, in Unix milliseconds.
    public let atMilliseconds: Int64
    /// How often its session was refreshed since.
    public let generation: UInt32
    /// Whether its session was ended.
    public let isRevoked: Bool

    /// Facts of an earlier sign-in.
    public init(atMilliseconds: Int64, generation: UInt32, isRevoked: Bool) {
        self.atMilliseconds = atMilliseconds
        self.generation = generation
        self.isRevoked = isRevoked
    }

    /// Whether presenting the token again now is a retry of an answer that was lost, and not a replay: soon after,
    /// and nobody has used the session's first refresh token yet.
    public func isRetry(nowMilliseconds: Int64, limits: SessionLimits) -> Bool {
        !isRevoked && generation == 0 && nowMilliseconds < atMilliseconds + limits.signInRetrySeconds * 1000
    }
}
