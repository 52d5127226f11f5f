import JOSE

/// A relying party of WebAuthn Level 3 (https://www.w3.org/TR/webauthn-3/): the server's half of the two ceremonies, sections 7.1
/// and 7.2.
///
/// Under ``AttestationPolicy/none`` a client may send a statement of another format all the same: it is accepted if it is CBOR of the
/// right form, and **proves nothing**, since no statement is verified. The `aaguid` of ``NewPasskey`` is then a claim of the
/// client.
///
/// Bytes in, values out: the caller makes the challenge, keeps it for one use within a few minutes, and stores passkeys. Immutable;
/// threads may use it concurrently.
public struct RelyingParty: Sendable {
    /// The maximum of origins.
    public static let originsMax = 64
    /// The minimum length of a challenge in bytes (section 13.4.3).
    public static let challengeBytesMin = 16

    /// Whether the authenticator must verify the user, by a PIN or a biometric.
    public enum UserVerification: String, Sendable, Hashable, CaseIterable {
        /// A response without the flag UV is rejected.
        case required
        /// The client verifies the user where it can; the caller learns whether it did.
        case preferred
    }

    /// The RP ID: a domain, which passkeys are bound to.
    public let id: String
    /// The origins of the pages and apps that may use the passkeys, exactly as clients write them.
    public let origins: [String]
    /// Whether the user must be verified.
    public let userVerification: UserVerification

    /// The SHA-256 of ``id``, with which authenticator data begins.
    let idHash: [UInt8]

    /// Makes a relying party.
    ///
    /// An origin's host need not be ``id`` or below it: pages of other domains may use the passkeys too (related origins, section
    /// 5.11). Which, is the operator's decision.
    ///
    /// - Parameters:
    ///   - id: a domain of lower-case ASCII labels (punycode for others), without a dot at the end, or `localhost`.
    ///   - origins: 1 to ``originsMax`` of them: `https://host` or `https://host:port`, `http` for `localhost` only, or
    ///     `android:apk-key-hash:` and the base64url of the 32 bytes of a signing certificate's SHA-256.
    /// - Throws: ``RelyingPartyError``, which names the first fault.
    public init(
        id: String,
        origins: [String],
        userVerification: UserVerification
    ) throws(RelyingPartyError) {
        guard Domain.isValid(id) else { throw .idIsNoDomain(id) }
        guard !origins.isEmpty else { throw .noOrigins }
        guard origins.count <= Self.originsMax else { throw .tooManyOrigins(origins.count) }
        for origin in origins {
            if let error = OriginError(origin) { throw .origin(origin, error) }
        }
        self.id = id
        self.origins = origins
        self.userVerification = userVerification
        idHash = SHA256.hash(id)
    }
}
