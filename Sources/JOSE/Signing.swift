import COpenSSL

/// Signatures by libcrypto. Any thread; every failure leaves the thread's error queue empty.
enum Signing {
    static func verify(
        _ signature: [UInt8],
        message: [UInt8],
        key: OpaquePointer,
        algorithm: SignatureAlgorithm
    ) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        let isValid =
            EVP_DigestVerifyInit(context, &keyContext, digest(of: algorithm), nil, key) == 1
            && configure(keyContext, algorithm)
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }

    static func sign(
        _ message: [UInt8],
        key: OpaquePointer,
        algorithm: SignatureAlgorithm
    ) throws(KeyError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .failure("allocate") }
        defer { EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        guard EVP_DigestSignInit(context, &keyContext, digest(of: algorithm), nil, key) == 1,
            configure(keyContext, algorithm)
        else { throw .failure("begin to sign") }
        var count = Int(EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
            throw .failure("sign")
        }
        return Array(signature[..<count])
    }

    /// Padding and salt of RSASSA-PSS (RFC 7518 section 3.5); the others need nothing.
    private static func configure(_ context: OpaquePointer?, _ algorithm: SignatureAlgorithm) -> Bool {
        switch algorithm {
        case .ps256:
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, 32) == 1
        case .rs256, .rs384, .rs512, .es256, .es384:
            true
        }
    }

    private static func digest(of algorithm: SignatureAlgorithm) -> OpaquePointer? {
        switch algorithm {
        case .rs256, .ps256, .es256: EVP_sha256()
        case .rs384, .es384: EVP_sha384()
        case .rs512: EVP_sha512()
        }
    }
}
