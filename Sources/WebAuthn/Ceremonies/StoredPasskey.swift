/// What a relying party stored of a passkey, as far as a sign-in is verified with it.
public struct StoredPasskey: Sendable, Hashable {
    /// ``NewPasskey/publicKey``.
    public let publicKey: [UInt8]
    /// The counter at the last ceremony.
    public let signCount: UInt32
    /// ``NewPasskey/isBackupEligible``.
    public let isBackupEligible: Bool

    /// A stored passkey.
    public init(publicKey: [UInt8], signCount: UInt32, isBackupEligible: Bool) {
        self.publicKey = publicKey
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
    }
}

/// A sign-in with a passkey that was verified.
public struct PasskeyAssertion: Sendable, Hashable {
    /// The authenticator's counter, for the caller to store.
    public let signCount: UInt32
    /// Whether the passkey is backed up at present (BS), for the caller to store.
    public let isBackedUp: Bool
    /// Whether the authenticator verified the user (UV).
    public let isUserVerified: Bool
    /// Whether the counter did not rise, though it or the stored one is not zero. The key may have been copied out of its
    /// authenticator, or two sign-ins may have overtaken each other (section 6.1.1): the caller decides, and should not lower the
    /// stored counter.
    public let isCounterBehind: Bool
    /// The user handle of ``AuthenticationResponse/userHandle``, for the caller to compare with the account's. Not signed.
    public let userHandle: [UInt8]?
}
