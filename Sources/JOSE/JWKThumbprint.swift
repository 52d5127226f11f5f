/// The thumbprint of a public key with SHA-256 (RFC 7638): a digest of the members that its type requires, in one spelling. Tokens
/// that are bound to a key name it so (`cnf.jkt`, RFC 9449 section 6.1).
public struct JWKThumbprint: Sendable, Hashable, CustomStringConvertible {
    /// The length in bytes.
    public static let byteCount = SHA256.byteCount

    /// The digest.
    public let bytes: [UInt8]

    /// The thumbprint of a key with these members, which are in lexicographic order and have no others beside them.
    init(ofRequiredMembers members: JSONObject) {
        bytes = SHA256.hash(members.serialized())
    }

    /// A thumbprint that was stored; nil for another number of bytes than ``byteCount``.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads a thumbprint as tokens have it: base64url of ``byteCount`` bytes. Nil for any other text.
    public init?(_ text: String) {
        guard let bytes = Base64URL.decode(text), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The thumbprint as base64url.
    public var text: String { Base64URL.encode(bytes) }

    /// ``text``: a thumbprint is no secret.
    public var description: String { text }
}

extension VerificationKey {
    /// The RFC 7638 thumbprint with SHA-256.
    public var jwkThumbprint: JWKThumbprint { JWKThumbprint(ofRequiredMembers: requiredJWKMembers) }
}

extension Ed25519Key {
    /// The public key of a JWK (RFC 8037 section 2): `kty` is `OKP` and `crv` is `Ed25519`.
    ///
    /// - Throws: ``KeyError/unsupported`` for another type or curve; otherwise as ``init(_:)``.
    public convenience init(jwk: JSONObject) throws(KeyError) {
        guard jwk["kty"] == "OKP", jwk["crv"] == "Ed25519" else { throw .unsupported }
        guard let text = jwk["x"]?.string, let bytes = Base64URL.decode(text) else { throw .malformed }
        try self.init(bytes)
    }

    /// The members that RFC 8037 section 2 requires, in lexicographic order.
    public var requiredJWKMembers: JSONObject {
        ["crv": "Ed25519", "kty": "OKP", "x": .string(Base64URL.encode(bytes))]
    }

    /// The RFC 7638 thumbprint with SHA-256, over the members that RFC 8037 appendix A.3 names.
    public var jwkThumbprint: JWKThumbprint { JWKThumbprint(ofRequiredMembers: requiredJWKMembers) }
}
