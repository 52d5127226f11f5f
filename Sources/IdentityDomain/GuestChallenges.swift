import JOSE

/// Challenges for a proof of work, by which a new guest account costs its maker something. Nothing of them is stored before they are
/// solved.
///
/// The text is base64url of when it ends (8 bytes, big-endian), how many bits of work it demands (1 byte), 16 random bytes, and 16 bytes of
/// HMAC-SHA256 over these. It is solved by a text that begins with it and a full stop, goes on with 1 to ``digitsMax`` digits, and whose
/// SHA-256 begins with that many zero bits. To check a text takes a code under each key and one hash, whatever it is.
///
/// A solved challenge opens one account: its fingerprint is kept until the challenge has ended.
public struct GuestChallenges: Sendable {
    /// For how long one is good, in seconds.
    public static let lifetimeSeconds: Int64 = 300
    /// Bytes that make each another one.
    public static let randomByteCount = 16
    /// The most work that may be demanded.
    public static let workBitsMax = 26
    /// The most digits behind a challenge.
    public static let digitsMax = 20
    private static let codeByteCount = 16
    private static let contentByteCount = 9 + randomByteCount
    private static let byteCount = contentByteCount + codeByteCount
    /// Characters of a challenge.
    static let textByteCount = (byteCount * 4 + 2) / 3

    private let keys: [[UInt8]]

    /// Challenges under keys that are derived from the refresh keys: the first makes, all verify.
    public init(_ refreshKeys: RefreshKeys) { keys = refreshKeys.derived("vestibule guest challenge 1") }

    /// A challenge.
    ///
    /// - Parameters:
    ///   - workBits: how much work it demands, at most ``workBitsMax``.
    ///   - random: ``randomByteCount`` random bytes.
    public func make(workBits: Int, nowSeconds: Int64, random: [UInt8]) -> String {
        precondition(random.count == Self.randomByteCount && 0...Self.workBitsMax ~= workBits)
        let end = UInt64(bitPattern: nowSeconds + Self.lifetimeSeconds)
        let content = (0..<8).map { UInt8(truncatingIfNeeded: end >> (56 - $0 * 8)) } + [UInt8(workBits)] + random
        return Base64URL.encode(content + Self.code(content, keys[0]))
    }

    /// What a text that solves a challenge is known by.
    ///
    /// - Throws: `IdentityError.guest` with `workInvalid` or `workExpired`.
    public func solved(_ proof: String, nowSeconds: Int64) throws(IdentityError) -> SolvedChallenge {
        guard proof.utf8.count <= Self.textByteCount + 1 + Self.digitsMax else { throw .guest(.workInvalid) }
        let text = Array(proof.utf8)
        let digits = text.dropFirst(Self.textByteCount + 1)
        guard !digits.isEmpty, text[Self.textByteCount] == UInt8(ascii: "."),
            digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let bytes = Base64URL.decode(String(decoding: text[..<Self.textByteCount], as: UTF8.self)),
            bytes.count == Self.byteCount
        else { throw .guest(.workInvalid) }
        let content = Array(bytes[..<Self.contentByteCount])
        let isOurs = keys.contains { key in
            ConstantTime.areEqual(Self.code(content, key), bytes[Self.contentByteCount...])
        }
        guard isOurs, Self.zeroBits(SHA256.hash(text)) >= content[8] else { throw .guest(.workInvalid) }
        let end = Int64(bitPattern: content.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard nowSeconds < end else { throw .guest(.workExpired) }
        // Of the challenge alone: another solution of it is the same.
        let fingerprint = SHA256.hash(Array("vestibule guest challenge 1\0".utf8) + content)
        return SolvedChallenge(fingerprint: fingerprint, endsAtSeconds: end)
    }

    /// How many zero bits a hash begins with.
    public static func zeroBits(_ hash: [UInt8]) -> Int {
        guard let first = hash.firstIndex(where: { $0 != 0 }) else { return hash.count * 8 }
        return first * 8 + hash[first].leadingZeroBitCount
    }

    private static func code(_ content: [UInt8], _ key: [UInt8]) -> [UInt8] {
        Array(SHA256.authenticationCode(of: content, key: key).prefix(codeByteCount))
    }
}

/// A challenge that somebody has solved.
public struct SolvedChallenge: Sendable, Hashable {
    /// What the challenge is known by, 32 bytes.
    public let fingerprint: [UInt8]
    /// When it would be refused, in Unix seconds.
    public let endsAtSeconds: Int64
}
