/// Derives keys from a secret, by HKDF with SHA-256 (RFC 5869). Any thread.
///
/// The secret must be hard to guess: HKDF is fast, so it doesn't slow down guessing.
public enum HKDF {
    /// The maximum of bytes for one secret and label (RFC 5869 section 2.3).
    public static let byteCountMax = 255 * SHA256.byteCount

    /// Derives `byteCount` bytes, 1 to ``byteCountMax``.
    ///
    /// - Parameters:
    ///   - secret: the input keying material.
    ///   - salt: not secret; an empty one stands for as many zeros as a digest has bytes.
    ///   - label: what the key is for (`info`). Keys of different labels are independent: one doesn't reveal another.
    public static func key(
        from secret: [UInt8],
        salt: [UInt8] = [],
        label: [UInt8],
        byteCount: Int = SHA256.byteCount
    ) -> [UInt8] {
        precondition(1...byteCountMax ~= byteCount, "HKDF derives 1 to \(byteCountMax) bytes")
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: SHA256.byteCount) : salt
        let extracted = SHA256.authenticationCode(of: secret, key: salt)
        var output: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 0
        while output.count < byteCount {
            number += 1
            block = SHA256.authenticationCode(of: block + label + [number], key: extracted)
            output += block
        }
        return Array(output.prefix(byteCount))
    }
}
