import COpenSSL

extension VerificationKey {
    /// The maximum length of a public key in DER.
    public static let derBytesMax = 4 * 1024

    /// Reads the public key in DER that all of `publicKeyInfo` are, a SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7): RSA, or a point
    /// on P-256 or P-384 whose curve is named and not spelled out (RFC 5480 section 2.1.1).
    public convenience init(publicKeyInfo: [UInt8]) throws(KeyError) {
        guard publicKeyInfo.count <= Self.derBytesMax else { throw .malformed }
        let pointer = publicKeyInfo.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            guard let pointer = d2i_PUBKEY(nil, &position, buffer.count) else { return nil }
            guard position == buffer.baseAddress?.advanced(by: buffer.count), Self.isNamed(pointer) else {
                EVP_PKEY_free(pointer)
                return nil
            }
            return pointer
        }
        guard let pointer else {
            ERR_clear_error()
            throw .malformed
        }
        try self.init(handle: KeyHandle(owning: pointer))
    }

    /// The point as X9.62 writes it uncompressed: 4, then both coordinates (SEC 1 section 2.3.3). Nil for an RSA key.
    public var uncompressedPoint: [UInt8]? {
        guard type != .rsa, let x = coordinate("x"), let y = coordinate("y") else { return nil }
        return [0x04] + x + y
    }

    private func coordinate(_ name: String) -> [UInt8]? {
        requiredJWKMembers[name]?.string.flatMap { Base64URL.decode($0) }
    }

    private static func isNamed(_ key: OpaquePointer) -> Bool {
        guard EVP_PKEY_is_a(key, "EC") == 1 else { return true }
        var isExplicit: Int32 = 1
        return EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1
            && isExplicit == 0
    }
}
