import COpenSSL

/// Judges encoded points of Ed25519's curve, which libcrypto takes as keys unseen: −x² + y² = 1 + d·x²·y² modulo
/// p = 2²⁵⁵ − 19 (RFC 8032 section 5.1).
enum Ed25519Point {
    /// p, big-endian.
    private static let prime: [UInt8] = [0x7f] + [UInt8](repeating: 0xff, count: 30) + [0xed]

    /// d = −121665 ∕ 121666 modulo p, big-endian.
    private static let d: [UInt8] = [
        0x52, 0x03, 0x6c, 0xee, 0x2b, 0x6f, 0xfe, 0x73, 0x8c, 0xc7, 0x40, 0x79, 0x77, 0x79, 0xe8, 0x98,
        0x00, 0x70, 0x0a, 0x4d, 0x41, 0x41, 0xd8, 0xab, 0x75, 0xeb, 0x4d, 0xca, 0x13, 0x59, 0x78, 0xa3,
    ]

    /// The y of the eight points whose order divides 8, big-endian: 0, 1, p − 1, and the two of order 8.
    private static let smallOrders: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [UInt8](repeating: 0, count: 31) + [1],
        [0x7f] + [UInt8](repeating: 0xff, count: 30) + [0xec],
        [
            0x05, 0xfc, 0x53, 0x6d, 0x88, 0x02, 0x38, 0xb1, 0x39, 0x33, 0xc6, 0xd3, 0x05, 0xac, 0xdf, 0xd5,
            0xf0, 0x98, 0xef, 0xf2, 0x89, 0xf4, 0xc3, 0x45, 0xb0, 0x27, 0xb2, 0xc2, 0x8f, 0x95, 0xe8, 0x26,
        ],
        [
            0x7a, 0x03, 0xac, 0x92, 0x77, 0xfd, 0xc7, 0x4e, 0xc6, 0xcc, 0x39, 0x2c, 0xfa, 0x53, 0x20, 0x2a,
            0x0f, 0x67, 0x10, 0x0d, 0x76, 0x0b, 0x3c, 0xba, 0x4f, 0xd8, 0x4d, 0x3d, 0x70, 0x6a, 0x17, 0xc7,
        ],
    ]

    /// Whether 32 bytes are the one encoding of a point of the curve whose order is not small. The bytes are y, little-endian,
    /// with the sign of x as the highest bit; either sign has a point.
    static func isUsable(_ bytes: [UInt8]) -> Bool {
        var y = Array(bytes.reversed())
        y[0] &= 0x7f
        return y.lexicographicallyPrecedes(prime) && !smallOrders.contains(y) && isOnCurve(y)
    }

    /// Whether a point has this y: x² = (y² − 1) ∕ (d·y² + 1) has a root, so the product of both is a square.
    ///
    /// Not for y = 0, from which 1 can't be taken, nor for y² = 1.
    private static func isOnCurve(_ y: [UInt8]) -> Bool {
        guard let context = BN_CTX_new() else { return false }
        defer { BN_CTX_free(context) }
        BN_CTX_start(context)
        defer { BN_CTX_end(context) }
        // The context owns the numbers.
        guard let square = BN_CTX_get(context), let other = BN_CTX_get(context), let modulus = BN_CTX_get(context),
            BN_bin2bn(y, Int32(y.count), square) != nil, BN_bin2bn(d, Int32(d.count), other) != nil,
            BN_bin2bn(prime, Int32(prime.count), modulus) != nil, BN_mod_sqr(square, square, modulus, context) == 1,
            BN_mod_mul(other, other, square, modulus, context) == 1, BN_add_word(other, 1) == 1,
            BN_sub_word(square, 1) == 1, BN_mod_mul(square, square, other, modulus, context) == 1
        else {
            ERR_clear_error()
            return false
        }
        return BN_kronecker(square, modulus, context) == 1
    }
}
