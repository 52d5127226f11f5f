/// The supported signature algorithms, by their names in RFC 7518 section 3.1. `none` and the symmetric algorithms are
/// deliberately not among the cases: no code path can accept them.
public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes.
    case ps256 = "PS256"
    /// ECDSA on P-256 with SHA-256; the signature is r and s, 32 bytes each.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384; the signature is r and s, 48 bytes each.
    case es384 = "ES384"

    /// The kind of key that the algorithm needs.
    public var keyType: KeyType {
        switch self {
        case .rs256, .rs384, .rs512, .ps256: .rsa
        case .es256: .p256
        case .es384: .p384
        }
    }
}

/// The supported types of keys.
public enum KeyType: Sendable, Hashable {
    /// RSA with a modulus of 2048 to 8192 bits.
    case rsa
    /// An elliptic curve key on P-256.
    case p256
    /// An elliptic curve key on P-384.
    case p384

    /// Bytes of one coordinate of a point, and of each half of a signature; nil for RSA.
    var coordinateByteCount: Int? {
        switch self {
        case .rsa: nil
        case .p256: 32
        case .p384: 48
        }
    }

    /// The curve's name in a JWK (RFC 7518 section 6.2.1.1); nil for RSA.
    var curveName: String? {
        switch self {
        case .rsa: nil
        case .p256: "P-256"
        case .p384: "P-384"
        }
    }

    /// The curve's name in libcrypto; nil for RSA.
    var groupName: String? {
        switch self {
        case .rsa: nil
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        }
    }
}

/// Why a key was rejected or could not be used.
public enum KeyError: Error, Sendable, Hashable {
    /// The text or its numbers are not a key: bad base64url, a point that isn't on the curve, an even exponent, no PEM.
    case malformed
    /// The type of key is not supported.
    case unsupported
    /// The RSA modulus is shorter than 2048 or longer than 8192 bits.
    case unacceptableSize(bits: Int)
    /// The RSA modulus is of a kind whose primes can be found (CVE-2017-15361).
    case guessablePrimes
    /// libcrypto failed at this operation.
    case cryptography(operation: String)
}
