import JOSE
import ServiceKit

/// A kind of keys for the rotation: how they are made, and how long each state lasts.
public struct KeyKind: Sendable {
    /// Its name, and the name of its file.
    public let name: String
    /// How long clients may cache the keys, in addition to the time that a changed folder takes to reach all programs: a new
    /// key is published that much longer before it is used.
    let cachedSeconds: Int64
    /// How long a key is kept after it made its last token: the longest lifetime of a token.
    let lifetime: Lifetime
    /// The key files of older versions.
    let former: Former?
    /// The services with keys derived from these, each with its own.
    let derivedFor: [String]
    /// Derives a service's key from one of these; nil for a key of another size.
    let derive: @Sendable (_ master: [UInt8], _ service: String) -> [UInt8]?
    /// Whether data is sealed under the keys, so that even a leaked key must stay until the data is sealed again.
    let opensWhatIsKept: Bool
    /// Makes a new key, as text.
    let make: @Sendable () throws -> String
    /// The id of a key, or of its remaining part.
    let id: @Sendable (_ text: String) throws(FileError) -> String
    /// The part of a key that remains when it only verifies.
    let verifying: @Sendable (_ text: String) throws(FileError) -> String

    /// The file of the current key, and that of a second key.
    struct Former: Sendable {
        let current: String
        let other: String
        /// The text of the key in such a file.
        let text: @Sendable (_ bytes: [UInt8]) throws(FileError) -> String
    }

    /// How long the tokens of a key may live.
    enum Lifetime: Sendable {
        /// At most this number of seconds, whatever is configured.
        case seconds(Int64)
        /// The lifetime of a session.
        case session
    }

    /// All kinds.
    public static let all = [signing, rsa, refresh, proof, vault, cursor]

    /// The kind of that name.
    public static func named(_ name: String) -> KeyKind? { all.first { $0.name == name } }

    /// The key pairs that sign access and ID tokens.
    public static let signing = KeyKind(
        name: "signing",
        // The max-age of GetJWKS' response, which clients that cache the key set follow.
        cachedSeconds: keySetMaxAgeSeconds,
        lifetime: .seconds(accessTokenSecondsMax),
        former: Former(current: "identity-signing-key.pem", other: "identity-signing-key-other.pem") {
            (bytes) throws(FileError) in String(decoding: bytes, as: UTF8.self)
        },
        derivedFor: [],
        derive: { _, _ in nil },
        opensWhatIsKept: false,
        make: { try SigningKey.generateP256().pem() },
        id: { (text) throws(FileError) in try verificationKey(text).thumbprint },
        verifying: { (text) throws(FileError) in
            do {
                return try verificationKey(text).pem()
            } catch {
                throw FileError("has a key whose public half cannot be written")
            }
        }
    )

    /// The key pairs that sign ID tokens of OAuth clients that want RS256. An older folder may have none.
    public static let rsa = KeyKind(
        name: "rsa",
        cachedSeconds: keySetMaxAgeSeconds,
        lifetime: .seconds(accessTokenSecondsMax),
        former: nil,
        derivedFor: [],
        derive: { _, _ in nil },
        opensWhatIsKept: false,
        make: { try SigningKey.generateRSA2048().pem() },
        id: signing.id,
        verifying: signing.verifying
    )

    /// The keys of refresh tokens, from which the keys of single tokens, of states and of nonces are derived.
    public static let refresh = KeyKind(
        name: "refresh",
        cachedSeconds: 0,
        lifetime: .session,
        former: Former(current: "identity-refresh-key", other: "identity-refresh-key-other") {
            (bytes) throws(FileError) in
            guard bytes.count == randomByteCount else { throw FileError("doesn't have \(randomByteCount) bytes") }
            return Base64URL.encode(bytes)
        },
        derivedFor: [],
        derive: { _, _ in nil },
        opensWhatIsKept: false,
        make: { Base64URL.encode(SecureRandom.bytes(randomByteCount)) },
        id: { (text) throws(FileError) in try fingerprint(of: randomKey(text), label: "vestibule refresh key id 1") },
        verifying: { (text) throws(FileError) in text }
    )

    /// The master keys of proofs of callers. Only identity has them; each service that verifies proofs has keys derived for it
    /// (`CallerProofKey`).
    public static let proof = KeyKind(
        name: "proof",
        cachedSeconds: 0,
        // A proof is valid for ninety seconds, and clocks may differ by thirty.
        lifetime: .seconds(120),
        former: nil,
        derivedFor: ["profile", "invites"],
        derive: { master, service in CallerProofKey(master: master, service: service)?.bytes },
        opensWhatIsKept: false,
        make: { Base64URL.encode(SecureRandom.bytes(randomByteCount)) },
        id: { (text) throws(FileError) in try fingerprint(of: randomKey(text), label: "vestibule proof key id 1") },
        verifying: { (text) throws(FileError) in text }
    )

    /// The keys under which providers' tokens are kept.
    ///
    /// Identity seals tokens again under the current key, within minutes of a rotation. A retired key is kept longer, for backups
    /// of the database, and in case an error stops identity from doing so.
    public static let vault = KeyKind(
        name: "vault",
        cachedSeconds: 0,
        lifetime: .seconds(vaultKeySeconds),
        former: nil,
        derivedFor: [],
        derive: { _, _ in nil },
        opensWhatIsKept: true,
        make: { Base64URL.encode(SecureRandom.bytes(randomByteCount)) },
        id: { (text) throws(FileError) in try fingerprint(of: randomKey(text), label: "vestibule vault key id 1") },
        verifying: { (text) throws(FileError) in text }
    )

    /// The keys of cursors: page tokens and positions, which clients send back. Identity has the master keys and seals its own
    /// cursors with them; other services with cursors have keys derived for them.
    public static let cursor = KeyKind(
        name: "cursor",
        cachedSeconds: 0,
        lifetime: .seconds(cursorSeconds),
        former: nil,
        derivedFor: ["invites"],
        derive: { master, service in
            guard master.count == randomByteCount else { return nil }
            let label = Array("vestibule cursor key 1 \(service)".utf8)
            return HKDF.key(from: master, label: label, byteCount: randomByteCount)
        },
        opensWhatIsKept: false,
        make: { Base64URL.encode(SecureRandom.bytes(randomByteCount)) },
        id: { (text) throws(FileError) in try fingerprint(of: randomKey(text), label: "vestibule cursor key id 1") },
        verifying: { (text) throws(FileError) in text }
    )

    /// How long a cursor may be used: group events are kept for thirty days at most, and a gateway seals the positions of a
    /// stream under the key that it got when the stream began, an hour earlier at most.
    static let cursorSeconds: Int64 = 30 * 86_400 + accessTokenSecondsMax
    /// How long a retired key of the vault is kept.
    public static let vaultKeySeconds: Int64 = 30 * 86_400
    /// How long our key set may be cached.
    public static let keySetMaxAgeSeconds: Int64 = 300
    /// The maximum lifetime of an access or ID token that can be configured.
    public static let accessTokenSecondsMax: Int64 = 3_600
    /// Bytes of a random key.
    public static let randomByteCount = 32

    /// The public key of a key pair or of its public half, in PEM.
    ///
    /// - Throws: `FileError` for any other text; the error doesn't contain the text.
    public static func verificationKey(_ text: String) throws(FileError) -> VerificationKey {
        if let key = try? SigningKey(pem: text) { return key.verificationKey }
        guard let key = try? VerificationKey(pem: text) else { throw FileError("has a key that is not valid PEM") }
        return key
    }

    /// The bytes of a random key.
    ///
    /// - Throws: `FileError` unless there are ``randomByteCount``.
    public static func randomKey(_ text: String) throws(FileError) -> [UInt8] {
        guard let bytes = Base64URL.decode(text), bytes.count == randomByteCount else {
            throw FileError("has a key that is not \(randomByteCount) bytes in base64url")
        }
        return bytes
    }

    /// An id for a random key, from which the key can't be computed.
    static func fingerprint(of key: [UInt8], label: String) -> String {
        Hex.encode(Array(SHA256.authenticationCode(of: Array(label.utf8), key: key).prefix(8)))
    }
}
