import Glibc

/// What is known of tokens that were verified lately, so that a token seen again is not verified again.
///
/// Bounded: two generations of at most ``capacity`` tokens; when the newer one is full the older one is forgotten. Only verified
/// tokens get in, so a stranger cannot fill it; and each has one place, whatever its signature: who has a token can write any
/// signature behind it where we go by its MAC, and gets no second place by that. The whole text must be the one that was verified.
/// Expiry and revocation are checked by the caller on each use. Inlinable, since each check of a session goes through it.
public struct VerifiedTokenCache<Value> {
    /// The most tokens in each generation.
    public let capacity: Int
    @usableFromInline var newer: [Key: Known] = [:]
    @usableFromInline var older: [Key: Known] = [:]

    @usableFromInline
    struct Known {
        @usableFromInline let text: String
        @usableFromInline let value: Value

        @inlinable
        init(text: String, value: Value) {
            self.text = text
            self.value = value
        }
    }

    /// The part of a token that is signed.
    @usableFromInline
    struct Key: Hashable, Sendable {
        /// In its end a token has its MAC, and one from before it was there has its session: so hashing it is enough, and nobody
        /// chooses what is in it.
        @usableFromInline static var hashedBytes: Int { 128 }

        @usableFromInline let text: String
        @usableFromInline let signedByteCount: Int

        @inlinable
        init(_ text: String) {
            var text = text
            signedByteCount = text.withUTF8 { $0.lastIndex(of: UInt8(ascii: ".")) ?? $0.count }
            self.text = text
        }

        /// By bytes: for `String` two ways to write a character are the same text.
        @inlinable
        static func == (left: Key, right: Key) -> Bool {
            left.signedByteCount == right.signedByteCount
                && VerifiedTokenCache.areEqual(left.text, right.text, first: left.signedByteCount)
        }

        @inlinable
        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { bytes in
                let signed = UnsafeRawBufferPointer(bytes)[..<signedByteCount].suffix(Self.hashedBytes)
                guard signed.count == Self.hashedBytes else {
                    return hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: signed))
                }
                // By words: bytes are put together one by one.
                for place in stride(from: signed.startIndex, to: signed.endIndex, by: 8) {
                    hasher.combine(UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt64.self))
                }
            }
        }
    }

    /// Whether the first bytes of two texts are there and the same.
    @inlinable
    static func areEqual(_ left: String, _ right: String, first byteCount: Int) -> Bool {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard let start = left.baseAddress, let other = right.baseAddress else { return byteCount == 0 }
                return left.count >= byteCount && right.count >= byteCount && memcmp(start, other, byteCount) == 0
            }
        }
    }

    /// An empty cache.
    @inlinable
    public init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// The number of tokens held, at most twice the capacity.
    @inlinable public var count: Int { newer.count + older.count }

    /// What is known of a token that was verified before.
    @inlinable
    public mutating func value(of token: String) -> Value? {
        let key = Key(token)
        if let known = newer[key] { return Self.value(of: known, token) }
        guard let known = older[key], let value = Self.value(of: known, token) else { return nil }
        older[key] = nil
        insert(value, for: token, key)
        return value
    }

    /// Keeps what is known of a verified token.
    @inlinable
    public mutating func insert(_ value: Value, for token: String) { insert(value, for: token, Key(token)) }

    @inlinable
    mutating func insert(_ value: Value, for token: String, _ key: Key) {
        if newer.count >= capacity {
            older = newer
            newer = [:]
        }
        newer[key] = Known(text: token, value: value)
    }

    @inlinable
    static func value(of known: Known, _ token: String) -> Value? {
        let byteCount = token.utf8.count
        return known.text.utf8.count == byteCount && areEqual(known.text, token, first: byteCount) ? known.value : nil
    }
}
