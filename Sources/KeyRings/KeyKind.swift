import JOSE
import ServiceKit

/// What the rotation has to know of a kind of keys: how they are made, and how long each state lasts.
public struct KeyKind: Sendable {
    /// Its name, which is that of its file.
    public let name: String
    /// For how long others may go on with the keys that they read before, beside the time that a changed folder takes to
    /// reach everybody: a new key is published that much longer before it is used.
    let cachedSeconds: Int64
    /// For how long a key is kept after it made its last token: the life of the longest-lived one.
    let lifetime: Lifetime
    /// Where keys are in a folder of secrets from before there were rings.
    let former: Former?
    /// The services that are given keys derived from these, each its own.
    let derivedFor: [String]
    /// Derives a service's key from one of these; nil for a key of another size.
    let derive: @Sendable (_ master: [UInt8], _ service: String) -> [UInt8]?
    /// Whether a key opens what is kept, so that a leaked one can't go before that is sealed anew.
    let opensWhatIsKept: Bool
    /// Makes a new key, as text.
    let make: @Sendable () throws -> String
    /// The id of a key, or of what is left of it.
    let id: @Sendable (_ text: String) throws(FileError) -> String
    /// What is left of a key that only verifies.
    let verifying: @Sendable (_ text: String) throws(FileError) -> String

    /// A file for the current key, and one for another.
    struct Former: Sendable {
        let current: String
        let other: String
        /// The text of the key that such a file holds.
        let text: @Sendable (_ bytes: [UInt8]) throws(FileError) -> String
    }

    /// How long what a key made may live.
    enum Lifetime: Sendable {
        /// So many seconds at most, whatever is configured.
        case seconds(Int64)
        /// As long as a session.
        case session
    }

    /// All kinds.
    public static let all = [signing, refresh, proof, vault, cursor]

    /// The kind of that name.
    public static func named(_ name: String) -> KeyKind? { all.first { $0.name == name } }

    /// The key pairs that sign access and ID tokens.
    public static let signing = KeyKind(
        name: "signing",
        // GetJWKS says so, and whoever caches key sets goes by it.
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

    /// The keys of refresh tokens, from which the keys of single tokens, of states and of nonces are derived.
    public static let refresh = KeyKind(
        name: "refresh",
        cachedSeconds: 0,
        lifetime: .session,
        former: Former(current: "identity-refresh-key", other: "identity-refresh-key-other") {
            (bytes) throws(FileError) in
            guard bytes.count == randomByteCount else { throw FileError("has not \(randomByteCount) bytes") }
            return Base64URL.encode(bytes)
        },
        derivedFor: [],
        derive: { _, _ in nil },
        opensWhatIsKept: false,
        make: { Base64URL.encode(SecureRandom.bytes(randomByteCount)) },
        id: { (text) throws(FileError) in try fingerprint(of: randomKey(text), label: "vestibule refresh key id 1") },
        verifying: { (text) throws(FileError) in text }
    )

    /// The master keys of proofs of callers. Identity has them alone; each service that takes proofs has what is derived for
    /// it (`CallerProofKey`).
    public static let proof = KeyKind(
        name: "proof",
        cachedSeconds: 0,
        // A proof is good for ninety seconds by agreeing clocks, and clocks may differ by thirty.
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
    /// Identity seals anew under the current key what is sealed under a retired one, which takes minutes; a retired one is kept
    /// for backups of the database, and for whoever has to mend what kept identity from it.
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

    /// The keys of cursors: page tokens and positions, which clients hand back. Identity has the master keys and seals its own
    /// cursors with them; a service with cursors of its own has what is derived for it.
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

    /// For how long a cursor may be used: changes of groups are kept for thirty days at most, and a gateway seals the positions
    /// of a stream under the key that it got when the stream began, an hour earlier at most.
    static let cursorSeconds: Int64 = 30 * 86_400 + accessTokenSecondsMax
    /// For how long a retired key of the vault is kept.
    public static let vaultKeySeconds: Int64 = 30 * 86_400
    /// For how long our key set may be cached.
    public static let keySetMaxAgeSeconds: Int64 = 300
    /// The longest that an access or ID token may be configured to live.
    public static let accessTokenSecondsMax: Int64 = 3_600
    /// Bytes of a random key.
    public static let randomByteCount = 32

    /// The public key of a key pair or of its public half, in PEM.
    ///
    /// - Throws: `FileError` for anything else; it shows nothing of it.
    public static func verificationKey(_ text: String) throws(FileError) -> VerificationKey {
        if let key = try? SigningKey(pem: text) { return key.verificationKey }
        guard let key = try? VerificationKey(pem: text) else { throw FileError("has a key that is no key in PEM") }
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

    /// A name for a random key that tells nothing of it.
    static func fingerprint(of key: [UInt8], label: String) -> String {
        Hex.encode(Array(SHA256.authenticationCode(of: Array(label.utf8), key: key).prefix(8)))
    }
}
