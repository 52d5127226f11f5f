import JOSE
import Models

/// What a refresh token says: the session, its number among those issued, and that we made it.
///
/// The text is `vrt1_` and base64url of: session id (16 bytes), number (4, big-endian), the nonce of the
/// session's row (16), HMAC-SHA256 over these under a key of ours (32). Forged tokens are refused before any work in
/// the database; a token can be made from the row alone, so no table holds one; and a copy of the table is worth
/// nothing without the key, nor the key without the table.
public struct RefreshToken: Sendable, Hashable {
    /// Bytes of a row's nonce.
    public static let nonceByteCount = 16
    static let prefix = "vrt1_"
    static let contentByteCount = 16 + 4 + nonceByteCount

    /// The session that it belongs to.
    public let sessionID: SessionID
    /// Its number: how many of the session were issued before it.
    public let number: UInt32
    /// What only the session's row knows.
    public let nonce: [UInt8]

    /// A token's content; `nonce` has ``nonceByteCount`` bytes.
    public init(sessionID: SessionID, number: UInt32, nonce: [UInt8]) {
        precondition(nonce.count == Self.nonceByteCount, "the nonce has \(Self.nonceByteCount) bytes")
        self.sessionID = sessionID
        self.number = number
        self.nonce = nonce
    }

    var content: [UInt8] {
        var content = sessionID.bytes
        for shift in [24, 16, 8, 0] as [UInt32] {
            content.append(UInt8(truncatingIfNeeded: number >> shift))
        }
        return content + nonce
    }
}

extension RefreshToken: CustomStringConvertible {
    /// The session and the number, without what makes the token valid.
    public var description: String { "RefreshToken(session \(sessionID), number \(number))" }
}

/// The server's keys for refresh tokens: the first one makes new tokens, all of them verify.
public struct RefreshKeys: Sendable, CustomStringConvertible {
    /// Bytes of a key.
    public static let keyByteCount = 32
    /// The most keys.
    public static let keysMax = 8

    private let keys: [[UInt8]]

    /// Keys, newest first; nil unless there are 1 to ``keysMax`` of them, each of ``keyByteCount`` bytes.
    public init?(_ keys: [[UInt8]]) {
        guard 1...Self.keysMax ~= keys.count, keys.allSatisfy({ $0.count == Self.keyByteCount }) else { return nil }
        self.keys = keys
    }

    /// The text of a token. A secret: it is the session.
    public func mint(_ token: RefreshToken) -> String {
        let content = token.content
        return RefreshToken.prefix
            + Base64URL.encode(content + SHA256.authenticationCode(of: content, key: keys[0]))
    }

    /// The token of a text that one of our keys made; nil for anything else.
    public func verify(_ text: String) -> RefreshToken? {
        let byteCount = RefreshToken.contentByteCount + SHA256.byteCount
        guard text.utf8.count <= RefreshToken.prefix.utf8.count + byteCount * 2, text.hasPrefix(RefreshToken.prefix),
            let bytes = Base64URL.decode(text.dropFirst(RefreshToken.prefix.count)), bytes.count == byteCount
        else { return nil }
        let content = Array(bytes[..<RefreshToken.contentByteCount])
        let code = bytes[RefreshToken.contentByteCount...]
        let isOurs = keys.contains { key in
            ConstantTime.areEqual(SHA256.authenticationCode(of: content, key: key), code)
        }
        guard isOurs, let sessionID = SessionID(bytes: content[..<16]) else { return nil }
        let number = content[16..<20].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return RefreshToken(sessionID: sessionID, number: number, nonce: Array(content[20...]))
    }

    /// Keys for another purpose, newest first: HMAC-SHA256 of the purpose's label under each.
    func derived(_ label: String) -> [[UInt8]] {
        keys.map { SHA256.authenticationCode(of: Array(label.utf8), key: $0) }
    }

    /// Recognizes access tokens of ours: of the first key alone. A thief of the key can make tokens that identity accepts, though no
    /// other server does; once it is replaced its claims count for nothing, and its refresh tokens stay valid.
    var accessTokenMAC: MACClaim {
        MACClaim(label: "vestibule access token mac 1", key: derived("vestibule access token mac 1")[0])
    }

    /// The key under which addresses of clients are hashed where tickets of sign-ins in a browser are counted.
    public var addressKey: [UInt8] { derived("vestibule web ticket addresses 1")[0] }

    /// The keys under which phone numbers are hashed that providers told, newest first: so that one isn't told again.
    public var phoneKeys: [[UInt8]] { derived("vestibule told phone numbers 1") }

    /// The keys under which the terms of operators' searches are hashed, newest first.
    public var searchKeys: [[UInt8]] { derived("vestibule operator searches 1") }

    /// How many keys there are; never a key.
    public var description: String { "RefreshKeys(\(keys.count))" }
}
