import COpenSSL

/// A private key that signs our tokens (or, in tests and the simulator, a provider's).
///
/// Immutable; threads may sign with it concurrently. Never prints the key.
public final class SigningKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle
    private let signing: Signing

    /// The algorithm of its signatures: ES256 on P-256, ES384 on P-384, RS256 with RSA.
    public let algorithm: SignatureAlgorithm
    /// Its public half.
    public let verificationKey: VerificationKey
    /// The `kid` in headers and the key set: the RFC 7638 thumbprint, unless another was passed.
    public let keyID: String

    /// A new P-256 key, for ES256.
    public static func generateP256(keyID: String? = nil) throws(KeyError) -> SigningKey {
        try generate(type: "EC", keyID: keyID) { EVP_PKEY_CTX_set_group_name($0, KeyType.p256.groupName) == 1 }
    }

    /// A new RSA key of 2048 bits, for RS256. Takes some 50 ms of CPU.
    public static func generateRSA2048(keyID: String? = nil) throws(KeyError) -> SigningKey {
        try generate(type: "RSA", keyID: keyID) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2048) == 1 }
    }

    /// Reads an unencrypted private key in PEM: PKCS #8, or the older forms for EC and RSA.
    public convenience init(pem: String, keyID: String? = nil) throws(KeyError) {
        // Without this callback libcrypto would ask for the password of an encrypted key on the terminal.
        let handle = try KeyHandle(pem: pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
        try self.init(handle: handle, keyID: keyID)
    }

    private init(handle: KeyHandle, keyID: String?) throws(KeyError) {
        self.handle = handle
        verificationKey = try VerificationKey(handle: handle)
        self.keyID = keyID ?? verificationKey.thumbprint
        algorithm = verificationKey.signingAlgorithm
        signing = Signing(signingWith: handle, algorithm)
    }

    /// The private key in PEM (PKCS #8, unencrypted). A secret.
    public func pem() throws(KeyError) -> String {
        try handle.pem { PEM_write_bio_PKCS8PrivateKey($0, handle.pointer, nil, nil, 0, nil, nil) }
    }

    /// The signature of `message` in JOSE's form.
    public func sign(_ message: [UInt8]) throws(KeyError) -> [UInt8] {
        let signature = try signing.sign(message)
        guard let byteCount = handle.type.coordinateByteCount else { return signature }
        guard let raw = ECDSASignature.raw(fromDER: signature, coordinateByteCount: byteCount) else {
            throw .cryptography(operation: "read a signature")
        }
        return raw
    }

    /// The encoded header of tokens of a type: `alg`, `kid` and `typ`. For ``signedToken(claims:encodedHeader:)``, so that
    /// frequent tokens share it.
    public func encodedHeader(type: String) -> String {
        Self.encodedHeader(algorithm: algorithm, keyID: keyID, type: type)
    }

    static func encodedHeader(algorithm: SignatureAlgorithm, keyID: String, type: String) -> String {
        let header: JSONObject = ["alg": .string(algorithm.rawValue), "kid": .string(keyID), "typ": .string(type)]
        return Base64URL.encode(header.serialized())
    }

    /// A compact JWS over `claims` with a header from ``encodedHeader(type:)`` of this key.
    ///
    /// - Parameter mac: adds its claim at the end, by which we recognize the token.
    public func signedToken(
        claims: JSONObject,
        encodedHeader: String,
        mac: MACClaim? = nil
    ) throws(KeyError) -> String {
        var payload = claims.serialized()
        mac?.append(to: &payload, encodedHeader: encodedHeader)
        let input = encodedHeader + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try sign(Array(input.utf8)))
    }

    /// A compact JWS over `claims`, with `alg`, `kid` and, if not nil, `typ` in its header, then the members of `extraHeader`.
    public func signedToken(
        claims: JSONObject,
        type: String? = nil,
        extraHeader: JSONObject = JSONObject()
    ) throws(KeyError) -> String {
        var header: JSONObject = ["alg": .string(algorithm.rawValue), "kid": .string(keyID)]
        if let type { header["typ"] = .string(type) }
        for member in extraHeader.members { header[member.name] = member.value }
        return try signedToken(claims: claims, encodedHeader: Base64URL.encode(header.serialized()))
    }

    /// The public half as a JWK with `kid`, `alg` and `use`.
    public var publicJWK: JSONObject {
        var jwk = verificationKey.requiredJWKMembers
        jwk["kid"] = .string(keyID)
        jwk["alg"] = .string(algorithm.rawValue)
        jwk["use"] = "sig"
        return jwk
    }

    /// The key's id; never the key.
    public var description: String { "SigningKey(\(keyID))" }

    private static func generate(
        type: String,
        keyID: String?,
        configure: (OpaquePointer) -> Bool
    ) throws(KeyError) -> SigningKey {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { throw .failure("allocate") }
        defer { EVP_PKEY_CTX_free(context) }
        var pointer: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, configure(context), EVP_PKEY_generate(context, &pointer) == 1,
            let pointer
        else { throw .failure("generate a key") }
        return try SigningKey(handle: KeyHandle(owning: pointer), keyID: keyID)
    }
}
