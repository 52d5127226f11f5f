/// A passkey that was registered, for the caller to store (section 4, "credential record").
public struct NewPasskey: Sendable, Hashable {
    /// The id, 1 to 1023 bytes. The caller rejects one that is stored already, of whichever account (section 7.1).
    public let credentialID: [UInt8]
    /// The public key, a COSE_Key of at most 2 KiB, exactly as the authenticator wrote it: ``StoredPasskey/publicKey`` later.
    public let publicKey: [UInt8]
    /// The algorithm of its signatures.
    public let algorithm: PasskeyAlgorithm
    /// The authenticator's counter of signatures; 0 if it has none.
    public let signCount: UInt32
    /// The authenticator's model, 16 bytes; zeros if it doesn't say. A claim of the client, unless there is an ``attestation``.
    public let aaguid: [UInt8]
    /// Whether the passkey may be copied to other devices (BE). It never changes.
    public let isBackupEligible: Bool
    /// Whether it is copied at present (BS).
    public let isBackedUp: Bool
    /// Whether the authenticator verified the user (UV).
    public let isUserVerified: Bool
    /// How the client reaches the authenticator: ``CredentialDescriptor/transports`` later.
    public let transports: [String]
    /// What is proven of the authenticator; nil under ``AttestationPolicy/none``.
    public internal(set) var attestation: VerifiedAttestation?
}
