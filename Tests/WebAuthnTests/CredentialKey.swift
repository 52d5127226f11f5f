import COpenSSL
import JOSE

/// A private key of the soft authenticator.
///
/// `@unchecked Sendable`: the pointer is set once, and libcrypto lets several threads use a constant key.
final class Ed25519Signer: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// The public key, 32 bytes.
    let publicKey: [UInt8]

    /// A key of a seed of 32 bytes.
    init?(seed: [UInt8]) {
        guard let pointer = EVP_PKEY_new_raw_private_key_ex(nil, "ED25519", nil, seed, seed.count) else { return nil }
        self.pointer = pointer
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        EVP_PKEY_get_raw_public_key(pointer, &bytes, &count)
        publicKey = bytes
    }

    deinit { EVP_PKEY_free(pointer) }

    func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        EVP_DigestSignInit(context, nil, nil, nil, pointer)
        EVP_DigestSign(context, &signature, &count, message, message.count)
        return signature
    }
}

/// A credential's key pair.
enum CredentialKey: Sendable {
    case elliptic(SigningKey)
    case edwards(Ed25519Signer)
    case rsa(SigningKey)

    /// One of each kind, for all tests.
    static let all: [CredentialKey] = [es256, edDSA, rs256]
    static let es256 = signing(CredentialKey.elliptic) { () throws(KeyError) in try .generateP256() }
    static let rs256 = signing(CredentialKey.rsa) { () throws(KeyError) in try .generateRSA2048() }
    static let edDSA: CredentialKey = {
        guard let key = Ed25519Signer(seed: [UInt8](repeating: 7, count: 32)) else { preconditionFailure("no key") }
        return .edwards(key)
    }()

    private static func signing(
        _ wrap: (SigningKey) -> CredentialKey,
        _ make: () throws(KeyError) -> SigningKey
    ) -> CredentialKey {
        guard let key = try? make() else { preconditionFailure("no key") }
        return wrap(key)
    }

    /// The entries of the COSE_Key.
    var entries: [(label: Int64, value: [UInt8])] {
        switch self {
        case .elliptic(let key):
            [
                (1, CBORText.integer(2)), (3, CBORText.integer(-7)), (-1, CBORText.integer(1)),
                (-2, CBORText.bytes(Self.number(key, "x"))), (-3, CBORText.bytes(Self.number(key, "y"))),
            ]
        case .edwards(let key):
            [
                (1, CBORText.integer(1)), (3, CBORText.integer(-8)), (-1, CBORText.integer(6)),
                (-2, CBORText.bytes(key.publicKey)),
            ]
        case .rsa(let key):
            [
                (1, CBORText.integer(3)), (3, CBORText.integer(-257)), (-1, CBORText.bytes(Self.number(key, "n"))),
                (-2, CBORText.bytes(Self.number(key, "e"))),
            ]
        }
    }

    /// The COSE_Key.
    var encoded: [UInt8] { Self.encoded(entries) }

    static func encoded(_ entries: [(label: Int64, value: [UInt8])]) -> [UInt8] {
        CBORText.map(entries.map { (CBORText.integer($0.label), $0.value) })
    }

    /// The COSE_Key with the value at a label replaced; nil leaves it out.
    func encoded(with label: Int64, _ value: [UInt8]?) -> [UInt8] {
        Self.encoded(entries.compactMap { $0.label == label ? value.map { (label, $0) } : $0 })
    }

    /// The signature in WebAuthn's form.
    func sign(_ message: [UInt8]) throws -> [UInt8] {
        switch self {
        case .elliptic(let key): Self.der(try key.sign(message))
        case .edwards(let key): key.sign(message)
        case .rsa(let key): try key.sign(message)
        }
    }

    /// An ECDSA signature in DER, of r and s of 32 bytes each.
    static func der(_ raw: [UInt8]) -> [UInt8] {
        let content = [raw[..<32], raw[32...]].flatMap { half in
            let number = Array(half.drop { $0 == 0 })
            let padded = number.first.map { $0 < 0x80 } == true ? number : [0] + number
            return [0x02, UInt8(padded.count)] + padded
        }
        return [0x30, UInt8(content.count)] + content
    }

    private static func number(_ key: SigningKey, _ name: String) -> [UInt8] {
        key.verificationKey.requiredJWKMembers[name]?.string.flatMap { Base64URL.decode($0) } ?? []
    }
}
