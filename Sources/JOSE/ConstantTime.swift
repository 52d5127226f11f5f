import COpenSSL

/// Comparison in constant time: its duration doesn't depend on the content.
public enum ConstantTime {
    /// Whether the two are equal. The lengths are not secret: it returns early if they differ.
    public static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
        areEqual(Array(first), Array(second))
    }

    /// As above, of what most callers have.
    public static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        guard first.count == second.count else { return false }
        return CRYPTO_memcmp(first, second, first.count) == 0
    }

    /// Whether two texts have the same UTF-8 bytes.
    public static func areEqual(_ first: String, _ second: String) -> Bool {
        areEqual(first.utf8, second.utf8)
    }
}
