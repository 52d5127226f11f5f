import COpenSSL

/// SHA-1 for what TPMs of Windows sign, and for nothing else: a collision of SHA-1 can be made, though not within the structure that a
/// TPM signs, where the caller chooses at most 64 bytes in a row.
extension Certificate {
    /// Whether `signature` is this certificate's of `message`, with RSASSA-PKCS1-v1_5 and SHA-1 (COSE's `RS1`, RFC 8812 section 2), by a key
    /// of at least 2048 bits. False also where the system's policy forbids SHA-1.
    public func verifiesWithSHA1(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let key = X509_get0_pubkey(pointer), EVP_PKEY_is_a(key, "RSA") == 1, EVP_PKEY_get_bits(key) >= 2048,
            let context = EVP_MD_CTX_new()
        else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha1(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// The SHA-1 of bytes.
    public static func sha1(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        _ = SHA1(bytes, bytes.count, &digest)
        return digest
    }
}
