import Glibc

/// Access tokens that were verified lately, so that a token seen again costs no signature check.
///
/// Bounded: two generations of at most ``capacity`` tokens; when the newer one is full the older one is forgotten.
/// The key is the whole text, signature included: a different text is a different token. Only verified tokens get
/// in, so a stranger cannot fill it. Expiry and revocation are checked by the caller on each use.
public struct VerifiedTokenCache: Sendable {
    /// The most tokens in each generation.
    public let capacity: Int
    private var newer: [Key: AccessClaims] = [:]
    private var older: [Key: AccessClaims] = [:]

    /// A token's text. Two tokens differ in the ends of their signatures, so hashing these is enough.
    private struct Key: Hashable {
        static let hashedBytes = 32

        let text: String

        /// By bytes: for `String` two ways to write a character are the same text.
        static func == (left: Key, right: Key) -> Bool {
            var (left, right) = (left.text, right.text)
            return left.withUTF8 { left in
                right.withUTF8 { right in
                    guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                        return left.count == right.count
                    }
                    return memcmp(start, other, left.count) == 0
                }
            }
        }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { bytes in
                hasher.combine(
                    bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).suffix(Self.hashedBytes))
                )
            }
        }
    }

    /// An empty cache.
    public init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// The number of tokens held, at most twice the capacity.
    public var count: Int { newer.count + older.count }

    /// The claims of a token that was verified before.
    public mutating func claims(of token: String) -> AccessClaims? {
        let key = Key(text: token)
        if let claims = newer[key] { return claims }
        guard let claims = older.removeValue(forKey: key) else { return nil }
        insert(claims, for: token)
        return claims
    }

    /// Keeps a verified token's claims.
    public mutating func insert(_ claims: AccessClaims, for token: String) {
        if newer.count >= capacity {
            older = newer
            newer = [:]
        }
        newer[Key(text: token)] = claims
    }
}
