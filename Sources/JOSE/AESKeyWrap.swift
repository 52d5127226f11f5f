import COpenSSL

/// The AES key wrap of RFC 3394 under a key of 256 bits, by libcrypto. Any thread.
enum AESKeyWrap {
    /// Bytes in the key that wraps.
    static let keyByteCount = 32
    /// Bytes by which a wrapped key is longer.
    static let overheadByteCount = 8
    /// The maximum length of a wrapped key in bytes.
    private static let wrappedBytesMax = 64 + overheadByteCount

    /// The key that was wrapped; nil if it was wrapped by another one, or is changed, or has an impossible length.
    static func unwrap(_ wrapped: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard key.count == keyByteCount, wrapped.count.isMultiple(of: 8),
            16 + overheadByteCount...wrappedBytesMax ~= wrapped.count, let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        EVP_CIPHER_CTX_set_flags(context, Int32(EVP_CIPHER_CTX_FLAG_WRAP_ALLOW))
        var plain = [UInt8](repeating: 0, count: wrapped.count)
        var count: Int32 = 0
        var rest: Int32 = 0
        // No initial value is named: libcrypto then compares with the one of section 2.2.3.1.
        guard EVP_DecryptInit_ex(context, EVP_aes_256_wrap(), nil, key, nil) == 1,
            EVP_DecryptUpdate(context, &plain, &count, wrapped, Int32(wrapped.count)) == 1,
            Int(count) == wrapped.count - overheadByteCount,
            EVP_DecryptFinal_ex(context, nil, &rest) == 1, rest == 0
        else { return nil }
        return Array(plain[..<Int(count)])
    }
}
