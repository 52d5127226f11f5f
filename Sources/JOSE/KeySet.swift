/// Why a text was rejected as a key set.
public enum KeySetError: Error, Sendable, Hashable {
    /// The text is not JSON, or exceeds a limit.
    case json(JSONError)
    /// There is no array `keys`, or an element is not an object.
    case malformed
    /// There are more keys than ``KeySet/keysMax``.
    case tooManyKeys
    /// None of the keys can be used.
    case noUsableKey
}

/// A JWK set (RFC 7517 section 5), its keys parsed and kept.
///
/// Elements that we can't use are skipped, as section 5 requires: unknown `kty` or curve, another `use`, no `kid`, RSA
/// moduli that are too short or whose primes can be found. A set without any usable key is rejected.
public struct KeySet: Sendable {
    /// The maximum of elements in a set.
    public static let keysMax = 64

    /// One key of a set.
    public struct Entry: Sendable {
        /// Its `kid`.
        public let keyID: String
        /// Its `alg`, if it is one that we support.
        public let algorithm: SignatureAlgorithm?
        /// The key.
        public let key: VerificationKey
    }

    /// The usable keys, in order.
    public let entries: [Entry]

    /// Parses a set.
    public init(parsing bytes: some Collection<UInt8>) throws(KeySetError) {
        let object: JSONObject
        do {
            object = try JSONObject(parsing: bytes, limits: JSONLimits(bytesMax: 256 * 1024))
        } catch {
            throw .json(error)
        }
        guard let elements = object["keys"]?.array else { throw .malformed }
        guard elements.count <= Self.keysMax else { throw .tooManyKeys }
        var entries: [Entry] = []
        for element in elements {
            guard let jwk = element.object else { throw .malformed }
            if let entry = Entry(jwk: jwk) { entries.append(entry) }
        }
        guard !entries.isEmpty else { throw .noUsableKey }
        self.entries = entries
    }

    /// A set of the public halves of our own keys, and of keys whose private halves are gone, by their thumbprints.
    public init(_ keys: [SigningKey], others: [VerificationKey] = []) {
        entries =
            keys.map { Entry(keyID: $0.keyID, algorithm: $0.algorithm, key: $0.verificationKey) }
            + others.map { Entry(keyID: $0.thumbprint, algorithm: $0.signingAlgorithm, key: $0) }
    }

    /// The key with this `kid` that fits the algorithm. A key bound to another algorithm doesn't fit (RFC 8725 section
    /// 3.1). There is no fallback to the only key or the first one.
    public func key(id: String, algorithm: SignatureAlgorithm) -> VerificationKey? {
        entries.first {
            $0.keyID == id && $0.key.type == algorithm.keyType && ($0.algorithm ?? algorithm) == algorithm
        }?.key
    }

    /// The set as JSON: public keys only.
    public var json: JSONObject {
        ["keys": .array(entries.map { .object($0.jwk) })]
    }
}

extension KeySet.Entry {
    /// The encoded header of tokens that this key signs, as ``SigningKey/encodedHeader(type:)`` writes it.
    func encodedHeader(type: String) -> String {
        SigningKey.encodedHeader(algorithm: algorithm ?? key.signingAlgorithm, keyID: keyID, type: type)
    }

    /// The element's key, or nil if we can't use it.
    init?(jwk: JSONObject) {
        guard let keyID = jwk["kid"]?.string, 1...256 ~= keyID.utf8.count else { return nil }
        if let use = jwk["use"], use != "sig" { return nil }
        if let operations = jwk["key_ops"], operations.array?.contains("verify") != true { return nil }
        var algorithm: SignatureAlgorithm?
        if let name = jwk["alg"] {
            guard let known = name.string.flatMap(SignatureAlgorithm.init(rawValue:)) else { return nil }
            algorithm = known
        }
        guard let key = try? VerificationKey(jwk: jwk), algorithm.map({ $0.keyType == key.type }) ?? true else {
            return nil
        }
        self.init(keyID: keyID, algorithm: algorithm, key: key)
    }

    var jwk: JSONObject {
        var jwk = key.requiredJWKMembers
        jwk["kid"] = .string(keyID)
        if let algorithm { jwk["alg"] = .string(algorithm.rawValue) }
        jwk["use"] = "sig"
        return jwk
    }
}

extension VerificationKey {
    /// The public key of a JWK (RFC 7517; RFC 7518 section 6): RSA, or EC on P-256 or P-384.
    public convenience init(jwk: JSONObject) throws(KeyError) {
        switch jwk["kty"]?.string {
        case "RSA":
            try self.init(modulus: Self.bytes(jwk, "n"), exponent: Self.bytes(jwk, "e"))
        case "EC":
            let curve: KeyType
            switch jwk["crv"]?.string {
            case "P-256": curve = .p256
            case "P-384": curve = .p384
            default: throw .unsupported
            }
            try self.init(curve: curve, x: Self.bytes(jwk, "x"), y: Self.bytes(jwk, "y"))
        default:
            throw .unsupported
        }
    }

    private static func bytes(_ jwk: JSONObject, _ name: String) throws(KeyError) -> [UInt8] {
        guard let text = jwk[name]?.string, let bytes = Base64URL.decode(text), !bytes.isEmpty else {
            throw .malformed
        }
        return bytes
    }
}
