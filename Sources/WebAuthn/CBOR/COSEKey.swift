import JOSE

/// The public key of a passkey, a COSE_Key (RFC 9052 section 7, RFC 9053 section 7, RFC 8230 section 4) as WebAuthn section 6.5.1
/// restricts it: `alg` is there, and `kty` and `crv` are those of the algorithm. Labels that say nothing about the key are ignored.
struct COSEKey: Sendable {
    /// The maximum length in bytes; an RSA key of 4096 bits has about 530.
    static let bytesMax = 2048
    /// The maximum size of an RSA modulus. Larger ones only make each verification slow.
    static let modulusBitsMax = 4096

    private enum Key: Sendable {
        case es256(VerificationKey)
        case edDSA(Ed25519Key)
        case rs256(VerificationKey)
    }

    private let key: Key

    /// The algorithm of its signatures.
    var algorithm: PasskeyAlgorithm {
        switch key {
        case .es256: .es256
        case .edDSA: .edDSA
        case .rs256: .rs256
        }
    }

    /// Reads the key that all of `bytes` are.
    init(parsing bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count <= Self.bytesMax else { throw .tooLarge(.publicKey) }
        guard let map = try? CBORReader.whole(bytes[...]).map else { throw .malformed(.publicKey) }
        try self.init(map)
    }

    private init(_ map: CBORMap) throws(WebAuthnError) {
        guard let number = map[Label.algorithm]?.integer else { throw .malformed(.publicKey) }
        guard let algorithm = PasskeyAlgorithm(rawValue: number) else { throw .unsupportedAlgorithm }
        do {
            key =
                switch algorithm {
                case .es256: .es256(try Self.ellipticKey(map))
                case .edDSA: .edDSA(try Self.edwardsKey(map))
                case .rs256: .rs256(try Self.rsaKey(map))
                }
        } catch {
            throw .badKey
        }
    }

    /// Whether `signature` is this key's of `message`, in the form of WebAuthn section 6.5.5: DER for ES256, for the others the
    /// only one that they have.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch key {
        case .es256(let key): key.verifies(derSignature: signature, of: message, algorithm: .es256)
        case .edDSA(let key): key.verifies(signature, of: message)
        case .rs256(let key): key.verifies(signature, of: message, algorithm: .rs256)
        }
    }

    /// Whether it is the same key as one of a certificate.
    func isSame(as other: VerificationKey) -> Bool {
        switch key {
        case .es256(let key), .rs256(let key): key.requiredJWKMembers == other.requiredJWKMembers
        case .edDSA: false
        }
    }

    /// The point of a key for ES256, uncompressed; nil for others.
    var uncompressedPoint: [UInt8]? {
        if case .es256(let key) = key { key.uncompressedPoint } else { nil }
    }

    /// A point in full: `y` as a Boolean value, half of a compressed point, is rejected (WebAuthn section 5.8.5).
    private static func ellipticKey(_ map: CBORMap) throws(KeyError) -> VerificationKey {
        guard map[Label.type]?.integer == KeyType.ec2, map[Label.curve]?.integer == Curve.p256,
            let x = map[Label.x]?.bytes, let y = map[Label.y]?.bytes
        else { throw .malformed }
        return try VerificationKey(curve: .p256, x: Array(x), y: Array(y))
    }

    private static func edwardsKey(_ map: CBORMap) throws(KeyError) -> Ed25519Key {
        guard map[Label.type]?.integer == KeyType.okp, map[Label.curve]?.integer == Curve.ed25519,
            let x = map[Label.x]?.bytes
        else { throw .malformed }
        return try Ed25519Key(Array(x))
    }

    /// Numbers without a zero in front, as RFC 8230 section 4 has them. The exponent is at least 65537: an odd number of three
    /// bytes or more. ``VerificationKey`` alone would accept 3, and a larger modulus.
    private static func rsaKey(_ map: CBORMap) throws(KeyError) -> VerificationKey {
        guard map[Label.type]?.integer == KeyType.rsa,
            let modulus = map[Label.modulus]?.bytes, modulus.first != 0, modulus.count <= modulusBitsMax / 8,
            let exponent = map[Label.exponent]?.bytes, exponent.first != 0, exponent.count >= 3
        else { throw .malformed }
        return try VerificationKey(modulus: Array(modulus), exponent: Array(exponent))
    }

    /// The labels of a key's parameters (RFC 9052 section 7.1, RFC 9053 section 7.1 and 7.2, RFC 8230 section 4).
    private enum Label {
        static let type: Int64 = 1
        static let algorithm: Int64 = 3
        static let curve: Int64 = -1
        static let x: Int64 = -2
        static let y: Int64 = -3
        static let modulus: Int64 = -1
        static let exponent: Int64 = -2
    }

    /// The types of keys (RFC 9053 section 7, RFC 8230 section 4).
    private enum KeyType {
        static let okp: Int64 = 1
        static let ec2: Int64 = 2
        static let rsa: Int64 = 3
    }

    /// The curves (RFC 9053 section 7.1).
    private enum Curve {
        static let p256: Int64 = 1
        static let ed25519: Int64 = 6
    }
}
