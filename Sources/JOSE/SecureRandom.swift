import COpenSSL

/// Random bytes for keys, from libcrypto's generator, which the operating system seeds. Any thread.
public struct SecureRandom: RandomNumberGenerator, Sendable {
    /// A generator; all share libcrypto's per-thread state.
    public init() {}

    /// `count` random bytes.
    ///
    /// A generator without a seed would return guessable secrets, so the process stops instead.
    public static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let result = RAND_bytes(buffer.baseAddress, Int32(count))
            precondition(result == 1, "libcrypto has no random bytes")
            initializedCount = count
        }
    }

    /// Eight random bytes as a number.
    public mutating func next() -> UInt64 {
        Self.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
