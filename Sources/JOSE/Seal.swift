import COpenSSL

/// Authenticated encryption under a key derived from a secret: AES-256-GCM (NIST SP 800-38D) by libcrypto. Any thread.
///
/// A sealed text has a nonce of 12 random bytes, the ciphertext and a tag of 16 bytes. Random nonces are safe for 2^32 seals
/// under one key (section 8.3): a secret that is new for each sign-in stays far below.
public enum Seal {
    /// The number of bytes by which a sealed text is longer than the plain text.
    public static let overheadByteCount = nonceByteCount + tagByteCount

    static let nonceByteCount = 12
    static let tagByteCount = 16

    /// Seals `plain`.
    ///
    /// libcrypto can fail here only if it has no memory or no AES. To store plain text instead would be a security hole, so
    /// the process then stops.
    ///
    /// - Parameters:
    ///   - plain: at most 2^31 - 1 bytes.
    ///   - secret: known only to code that may open it; hard to guess.
    ///   - label: the purpose and version of the sealed text. The key depends on it, so another label can't open the text.
    ///   - associatedData: must be the same when it is opened, such as the id of its row.
    public static func seal(
        _ plain: [UInt8],
        secret: [UInt8],
        label: String,
        associatedData: [UInt8] = []
    ) -> [UInt8] {
        seal(
            plain,
            key: key(secret, label),
            nonce: SecureRandom.bytes(nonceByteCount),
            associatedData: associatedData
        )
    }

    /// The plain text; nil unless it was sealed with the same secret, label and associated data, and is unchanged.
    public static func open(
        _ sealed: [UInt8],
        secret: [UInt8],
        label: String,
        associatedData: [UInt8] = []
    ) -> [UInt8]? {
        open(sealed, key: key(secret, label), associatedData: associatedData)
    }

    /// Seals with a key of 32 bytes and a nonce that was never used with this key.
    static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8], associatedData: [UInt8]) -> [UInt8] {
        precondition(key.count == SHA256.byteCount && nonce.count == nonceByteCount)
        precondition(plain.count <= Int(Int32.max) && associatedData.count <= Int(Int32.max))
        return [UInt8](unsafeUninitializedCapacity: plain.count + overheadByteCount) { buffer, count in
            _ = buffer.update(from: nonce)
            let text = buffer.baseAddress?.advanced(by: nonceByteCount)
            let tag = text?.advanced(by: plain.count)
            let isSealed = withContext { context in
                var length: Int32 = 0
                return EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
                    && EVP_EncryptUpdate(context, nil, &length, associatedData, Int32(associatedData.count)) == 1
                    && EVP_EncryptUpdate(context, text, &length, plain, Int32(plain.count)) == 1
                    && Int(length) == plain.count
                    && EVP_EncryptFinal_ex(context, tag, &length) == 1 && length == 0
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tagByteCount), tag) == 1
            }
            precondition(isSealed, "libcrypto could not seal")
            count = buffer.count
        }
    }

    static func open(_ sealed: [UInt8], key: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        precondition(key.count == SHA256.byteCount && associatedData.count <= Int(Int32.max))
        guard sealed.count >= overheadByteCount, sealed.count <= Int(Int32.max) else { return nil }
        let nonce = Array(sealed.prefix(nonceByteCount))
        var tag = Array(sealed.suffix(tagByteCount))
        let text = Array(sealed.dropFirst(nonceByteCount).dropLast(tagByteCount))
        var isOpened = false
        let plain = [UInt8](unsafeUninitializedCapacity: max(text.count, 1)) { buffer, count in
            isOpened = withContext { context in
                var length: Int32 = 0
                var rest: Int32 = 0
                return EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce) == 1
                    && EVP_DecryptUpdate(context, nil, &length, associatedData, Int32(associatedData.count)) == 1
                    && EVP_DecryptUpdate(context, buffer.baseAddress, &length, text, Int32(text.count)) == 1
                    && Int(length) == text.count
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, Int32(tagByteCount), &tag) == 1
                    && EVP_DecryptFinal_ex(context, buffer.baseAddress?.advanced(by: text.count), &rest) == 1
            }
            // After a wrong tag the buffer has unauthenticated plain text: erase it.
            if !isOpened { buffer.initialize(repeating: 0) }
            count = isOpened ? text.count : 0
        }
        return isOpened ? plain : nil
    }

    private static func key(_ secret: [UInt8], _ label: String) -> [UInt8] {
        HKDF.key(from: secret, label: Array(label.utf8))
    }

    /// Calls the body with a context, which is freed afterwards since it holds the key. Returns false if the body does, or if no
    /// context could be made; then the thread's error queue is empty.
    private static func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let context = EVP_CIPHER_CTX_new() else {
            ERR_clear_error()
            return false
        }
        defer { EVP_CIPHER_CTX_free(context) }
        let isDone = body(context)
        if !isDone { ERR_clear_error() }
        return isDone
    }
}
