import COpenSSL

/// A public key that is parsed once: parsing costs more than verifying.
///
/// Immutable; threads may verify with it concurrently.
public final class VerificationKey: Sendable {
    let handle: KeyHandle
    private let parameters: JSONObject
    private let verifiers: [SignatureAlgorithm: Signing]

    /// The algorithm that the private half signs with: ES256 on P-256, ES384 on P-384, RS256 with RSA.
    public var signingAlgorithm: SignatureAlgorithm {
        switch type {
        case .rsa: .rs256
        case .p256: .es256
        case .p384: .es384
        }
    }

    /// The type of the key.
    public var type: KeyType { handle.type }

    /// Makes an RSA key of its modulus and public exponent, big-endian.
    ///
    /// The modulus has 2048 to 8192 bits; the exponent is odd, at least 3, and below 2^32: a larger one adds no security and
    /// makes each verification slow.
    public convenience init(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) {
        let bits = Self.bitCount(modulus)
        guard 2048...8192 ~= bits else { throw .unacceptableSize(bits: bits) }
        guard let low = exponent.last, low & 1 == 1, 2...32 ~= Self.bitCount(exponent) else { throw .malformed }
        let pointer = try KeyBuilder.makePublicKey(type: "RSA") { builder throws(KeyError) in
            try builder.push(OSSL_PKEY_PARAM_RSA_N, number: modulus)
            try builder.push(OSSL_PKEY_PARAM_RSA_E, number: exponent)
        }
        try self.init(handle: KeyHandle(owning: pointer))
    }

    /// Reads a public key in PEM (SubjectPublicKeyInfo, as `openssl pkey -pubout` writes it).
    public convenience init(pem: String) throws(KeyError) {
        try self.init(handle: KeyHandle(pem: pem) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) })
    }

    /// Makes an elliptic curve key of its point's coordinates, each exactly as long as the curve's field; the point must
    /// be on the curve.
    public convenience init(curve: KeyType, x: [UInt8], y: [UInt8]) throws(KeyError) {
        guard let byteCount = curve.coordinateByteCount, let group = curve.groupName else { throw .unsupported }
        guard x.count == byteCount, y.count == byteCount else { throw .malformed }
        let pointer: OpaquePointer
        do {
            pointer = try KeyBuilder.makePublicKey(type: "EC") { builder throws(KeyError) in
                try builder.push(OSSL_PKEY_PARAM_GROUP_NAME, text: group)
                try builder.push(OSSL_PKEY_PARAM_PUB_KEY, bytes: [0x04] + x + y)
            }
        } catch {
            // libcrypto rejects a point that is not on the curve when it builds the key.
            throw .malformed
        }
        try self.init(handle: KeyHandle(owning: pointer))
    }

    init(handle: KeyHandle) throws(KeyError) {
        if handle.type == .rsa, RSAWeakness.hasGuessablePrimes(modulus: try handle.number(OSSL_PKEY_PARAM_RSA_N)) {
            throw .guessablePrimes
        }
        self.handle = handle
        parameters = try Self.requiredParameters(of: handle)
        let algorithms = SignatureAlgorithm.allCases.filter { $0.keyType == handle.type }
        verifiers = Dictionary(uniqueKeysWithValues: algorithms.map { ($0, Signing(verifyingWith: handle, $0)) })
    }

    /// Whether `signature` is `algorithm`'s signature of `message` by this key. False also when the key is of
    /// another kind or the signature has an impossible length.
    public func verifies(_ signature: [UInt8], of message: [UInt8], algorithm: SignatureAlgorithm) -> Bool {
        guard algorithm.keyType == type else { return false }
        var encoded = signature
        if let byteCount = type.coordinateByteCount {
            guard let der = ECDSASignature.der(fromRaw: signature, coordinateByteCount: byteCount) else { return false }
            encoded = der
        }
        return verifiers[algorithm]?.verify(encoded, message: message) ?? false
    }

    /// Whether `signature`, in DER (an `Ecdsa-Sig-Value`, RFC 3279 section 2.2.3), is `algorithm`'s signature of `message` by
    /// this key: the form outside of JOSE, in certificates and WebAuthn. Other spellings of the same numbers, which BER
    /// allows, are rejected. False also when the key is of another kind or has no such form, as RSA has none.
    public func verifies(derSignature signature: [UInt8], of message: [UInt8], algorithm: SignatureAlgorithm) -> Bool {
        guard let byteCount = type.coordinateByteCount,
            let raw = ECDSASignature.raw(fromDER: signature, coordinateByteCount: byteCount)
        else { return false }
        return verifies(raw, of: message, algorithm: algorithm)
    }

    /// The length of its signatures in JOSE's form: two numbers of a curve's field, or one of the modulus' length (RFC 7518
    /// sections 3.3 and 3.4).
    var signatureByteCount: Int {
        type.coordinateByteCount.map { 2 * $0 } ?? Int(EVP_PKEY_get_size(handle.pointer))
    }

    /// The public key in PEM (SubjectPublicKeyInfo).
    public func pem() throws(KeyError) -> String {
        try handle.pem { PEM_write_bio_PUBKEY($0, handle.pointer) }
    }

    /// The public key's members that RFC 7638 section 3.2 requires, in its lexicographic order.
    public var requiredJWKMembers: JSONObject { parameters }

    /// The RFC 7638 thumbprint with SHA-256, base64url; we use it as `kid`.
    public var thumbprint: String { jwkThumbprint.text }

    private static func requiredParameters(of handle: KeyHandle) throws(KeyError) -> JSONObject {
        guard let byteCount = handle.type.coordinateByteCount, let curve = handle.type.curveName else {
            return [
                "e": .string(Base64URL.encode(try handle.number(OSSL_PKEY_PARAM_RSA_E))),
                "kty": "RSA",
                "n": .string(Base64URL.encode(try handle.number(OSSL_PKEY_PARAM_RSA_N))),
            ]
        }
        return [
            "crv": .string(curve),
            "kty": "EC",
            "x": .string(Base64URL.encode(try handle.number(OSSL_PKEY_PARAM_EC_PUB_X, byteCount: byteCount))),
            "y": .string(Base64URL.encode(try handle.number(OSSL_PKEY_PARAM_EC_PUB_Y, byteCount: byteCount))),
        ]
    }

    private static func bitCount(_ number: [UInt8]) -> Int {
        guard let first = number.firstIndex(where: { $0 != 0 }) else { return 0 }
        return (number.count - first) * 8 - number[first].leadingZeroBitCount
    }
}
