import COpenSSL

/// SHA-256 (FIPS 180-4) and HMAC over it (RFC 2104), by libcrypto. Any thread.
public enum SHA256 {
    /// Bytes in a digest.
    public static let byteCount = 32

    /// The digest of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            _ = COpenSSL.SHA256(bytes, bytes.count, buffer.baseAddress)
            count = byteCount
        }
    }

    /// The digest of a text's UTF-8 bytes.
    public static func hash(_ text: String) -> [UInt8] {
        hash(Array(text.utf8))
    }

    /// The HMAC of `message` under `key`.
    ///
    /// libcrypto can fail here only if it has no memory or no SHA-256. A wrong code would be a security hole, so the
    /// process then stops.
    public static func authenticationCode(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            let isMade = codeContexts.withContext { context in
                var length = 0
                return EVP_MAC_init(context, key, key.count, nil) == 1
                    && EVP_MAC_update(context, message, message.count) == 1
                    && EVP_MAC_final(context, buffer.baseAddress, &length, buffer.count) == 1 && length == byteCount
            }
            precondition(isMade, "libcrypto could not compute an HMAC")
            count = byteCount
        }
    }

    /// Contexts with the digest set; each use sets the key.
    private static let codeContexts = ContextPool(make: { codeContext() }, free: { EVP_MAC_CTX_free($0) })

    /// A context for HMAC with SHA-256 without a key; nil if libcrypto fails.
    static func codeContext() -> OpaquePointer? {
        guard let method = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(method) }  // the context has a reference of its own
        guard let context = EVP_MAC_CTX_new(method) else { return nil }
        var name = Array("SHA256".utf8CString)
        let isSet = name.withUnsafeMutableBufferPointer { name in
            var parameters = [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_CTX_set_params(context, &parameters) == 1
        }
        if isSet { return context }
        EVP_MAC_CTX_free(context)
        return nil
    }
}

extension SignatureAlgorithm {
    /// The value of `c_hash` or `at_hash` for a code or token that comes with an ID token of this algorithm: base64url of
    /// the left half of the algorithm's digest (OpenID Connect Core sections 3.1.3.6 and 3.3.2.11).
    public func halfHash(of text: String) -> String {
        let digest = digest(of: Array(text.utf8))
        return Base64URL.encode(digest.prefix(digest.count / 2))
    }

    /// The digest of the signed text.
    func digest(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .rs256, .ps256, .es256: SHA256.hash(bytes)
        case .rs384, .es384: Self.digest(byteCount: 48) { COpenSSL.SHA384(bytes, bytes.count, $0) }
        case .rs512: Self.digest(byteCount: 64) { COpenSSL.SHA512(bytes, bytes.count, $0) }
        }
    }

    private static func digest(
        byteCount: Int,
        _ fill: (UnsafeMutablePointer<UInt8>?) -> UnsafeMutablePointer<UInt8>?
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            _ = fill(buffer.baseAddress)
            count = byteCount
        }
    }
}
