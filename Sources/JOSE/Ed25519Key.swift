import COpenSSL

/// A public key for Ed25519 (RFC 8032), which verifies signatures of passkeys and of DPoP proofs.
///
/// It is a type of its own, beside ``VerificationKey``, because tokens are not signed with it: ``SignatureAlgorithm`` has no name
/// for it, so no `alg` of a token's header, a key set or a configuration leads here.
///
/// `@unchecked Sendable`: the pointer is set once, and libcrypto lets several threads use a constant key concurrently.
public final class Ed25519Key: @unchecked Sendable {
    /// Bytes in a key.
    public static let byteCount = 32
    /// Bytes in a signature.
    public static let signatureByteCount = 64

    /// The key as it was read, the one encoding of its point.
    let bytes: [UInt8]
    private let pointer: OpaquePointer

    /// Reads a key of 32 bytes, the encoding of a point (RFC 8032 section 5.1.2).
    ///
    /// - Throws: ``KeyError/malformed`` for another length, for bytes that encode no point of the curve, for a second encoding
    ///   of a point, and for a point of small order, with which signatures are valid that nobody made.
    public init(_ bytes: [UInt8]) throws(KeyError) {
        guard bytes.count == Self.byteCount, Ed25519Point.isUsable(bytes) else { throw .malformed }
        guard let pointer = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count) else {
            throw .failure("build a public key")
        }
        self.pointer = pointer
        self.bytes = bytes
    }

    deinit {
        EVP_PKEY_free(pointer)
    }

    /// Whether `signature` is the signature of `message` by this key. False also if it has another length.
    public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount, let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        // No digest is named: Ed25519 hashes the message itself.
        let isValid =
            EVP_DigestVerifyInit(context, nil, nil, nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        if !isValid { ERR_clear_error() }
        return isValid
    }
}
