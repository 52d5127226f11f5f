/// An algorithm of passkeys, by its number in the IANA registry "COSE Algorithms" (RFC 9053), in the order in which they are
/// offered: the first that an authenticator supports is used.
public enum PasskeyAlgorithm: Int64, Sendable, Hashable, CaseIterable {
    /// ECDSA with SHA-256; in WebAuthn always on P-256 (section 5.8.5). Nearly all authenticators have it.
    case es256 = -7
    /// EdDSA; in WebAuthn always with Ed25519 (section 5.8.5).
    case edDSA = -8
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8812 section 2), which TPMs of Windows use.
    case rs256 = -257
}
