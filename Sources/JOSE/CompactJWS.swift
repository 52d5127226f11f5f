/// Why a compact JWS was rejected, up to the check of its signature.
public enum JWSError: Error, Sendable, Hashable {
    /// Longer than the limit.
    case tooLarge
    /// Not three base64url parts with a JSON object as header, a duplicate header member, or members of wrong types.
    case malformed
    /// `alg` is `none`, or the signature is empty (RFC 8725 section 3.1).
    case unsigned
    /// `alg` is symmetric or not supported.
    case unsupportedAlgorithm
    /// `crit` names extensions, of which none is supported (RFC 7515 section 4.1.11).
    case criticalExtension
    /// The header contains a key or the URL of one: `jwk`, `jku`, `x5u`, `x5c` (RFC 8725 section 3.10).
    case embeddedKey
    /// The key is of another kind, or the signature does not verify.
    case badSignature
}

/// A JSON Web Signature in compact form (RFC 7515 section 7.1), parsed but not verified: ``verifiedPayload(with:)`` verifies it
/// and returns the payload.
public struct CompactJWS: Sendable {
    /// The maximum length of a token in bytes, unless the caller sets another.
    public static let defaultBytesMax = 16 * 1024

    /// The header's `alg`.
    public let algorithm: SignatureAlgorithm
    /// The header's `kid`. Not verified: use it only to look up a key.
    public let keyID: String?
    /// The header's `typ`.
    public let type: String?

    /// The payload before verification: for decisions when no key is available. Any client may have written it, so nothing in
    /// it may be trusted.
    public var unverifiedPayload: [UInt8] { payload }

    private let signingInput: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    /// Parses a token without verifying its signature.
    public init(parsing text: String, bytesMax: Int = defaultBytesMax) throws(JWSError) {
        guard text.utf8.count <= bytesMax else { throw .tooLarge }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(utf8: parts[0]),
            let payload = Base64URL.decode(utf8: parts[1]), let signature = Base64URL.decode(utf8: parts[2]),
            let header = try? JSONObject(parsing: headerBytes, limits: JSONLimits(bytesMax: 4096, depthMax: 4))
        else { throw .malformed }

        let algorithmName = try Self.text(header, "alg")
        guard let algorithmName else { throw .malformed }
        guard algorithmName.lowercased() != "none", !signature.isEmpty else { throw .unsigned }
        guard let algorithm = SignatureAlgorithm(rawValue: algorithmName) else { throw .unsupportedAlgorithm }
        guard header["crit"] == nil, header["b64"] == nil else { throw .criticalExtension }
        guard ["jwk", "jku", "x5u", "x5c"].allSatisfy({ header[$0] == nil }) else { throw .embeddedKey }

        self.algorithm = algorithm
        keyID = try Self.text(header, "kid")
        type = try Self.text(header, "typ")
        signingInput = Array(bytes[..<parts[1].endIndex])
        self.payload = payload
        self.signature = signature
    }

    /// Verifies the signature with `key`, and returns the payload. The algorithm must suit the key's type.
    ///
    /// The caller decides first which algorithms an issuer may use (RFC 8725 section 3.1).
    public func verifiedPayload(with key: VerificationKey) throws(JWSError) -> [UInt8] {
        guard key.verifies(signature, of: signingInput, algorithm: algorithm) else { throw .badSignature }
        return payload
    }

    /// SHA-256 of the signed part: the header and the payload. It identifies the token without its signature: with ECDSA,
    /// anyone can make a second valid signature from the first.
    public var fingerprint: [UInt8] {
        SHA256.hash(signingInput)
    }

    private static func text(_ header: JSONObject, _ name: String) throws(JWSError) -> String? {
        guard let value = header[name] else { return nil }
        guard let text = value.string, text.utf8.count <= 256 else { throw .malformed }
        return text
    }
}
