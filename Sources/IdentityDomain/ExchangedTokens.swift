/// What a provider's token endpoint gave for a code (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3).
public struct ExchangedTokens: Sendable, Hashable {
    /// The longest refresh token that is kept, in bytes; Apple's have about 70, Google's about 100.
    public static let refreshTokenBytesMax = 4_096

    /// The ID token.
    public let idToken: String
    /// The refresh token; nil if none came, or one that can't be kept. A secret.
    public let refreshToken: String?

    /// The tokens of an answer. A refresh token that is too long, or has other characters than visible ASCII, counts as none.
    public init(idToken: String, refreshToken: String?) {
        self.idToken = idToken
        self.refreshToken = refreshToken.flatMap { token in
            1...Self.refreshTokenBytesMax ~= token.utf8.count && token.utf8.allSatisfy { 0x21...0x7e ~= $0 }
                ? token : nil
        }
    }

    /// Reads what ``bytes`` gave.
    public init(parsing bytes: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        self.init(
            idToken: String(decoding: parts[0], as: UTF8.self),
            refreshToken: parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
        )
    }

    /// Both tokens in one text, to be sealed: the refresh token stands on a line of its own.
    public var bytes: [UInt8] { Array((refreshToken.map { "\(idToken)\n\($0)" } ?? idToken).utf8) }
}
