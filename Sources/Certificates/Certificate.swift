import COpenSSL

/// A certificate (RFC 5280) out of DER, whose extensions libcrypto could read.
///
/// `@unchecked Sendable`: the pointer is set once, the object behind it is never changed after the initializer, and libcrypto lets
/// several threads read a certificate (its reference count is atomic, its caches are locked).
public final class Certificate: @unchecked Sendable {
    /// The maximum length of a certificate in bytes.
    public static let bytesMax = 16 * 1024

    /// The certificate in DER.
    public let der: [UInt8]
    /// The public key in DER, a SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
    public let publicKeyInfo: [UInt8]
    /// The SHA-1 of the public key's BIT STRING, the first method of RFC 5280 section 4.2.1.2: a name of the key, and no proof.
    public let keyIdentifier: [UInt8]

    /// libcrypto's object, which this one owns.
    let pointer: OpaquePointer

    /// Parses the certificate that all of `der` are.
    ///
    /// - Throws: ``CertificateError/malformed(what:)`` also for an elliptic curve that is spelled out in place of its name (RFC
    ///   5480 section 2.1.1 forbids it): its generator could be chosen so that a known key has another private half.
    public init(der: [UInt8]) throws(CertificateError) {
        defer { ERR_clear_error() }
        guard der.count <= Self.bytesMax, let pointer = Self.parse(der) else {
            throw .malformed(what: "certificate")
        }
        guard X509_check_purpose(pointer, -1, 0) == 1, let key = X509_get0_pubkey(pointer), Self.isNamed(key),
            let publicKeyInfo = Self.publicKeyInfo(of: pointer), let keyIdentifier = Self.keyIdentifier(of: pointer)
        else {
            X509_free(pointer)
            throw .malformed(what: "certificate")
        }
        self.pointer = pointer
        self.der = der
        self.publicKeyInfo = publicKeyInfo
        self.keyIdentifier = keyIdentifier
    }

    deinit { X509_free(pointer) }

    /// The version of the format: 3 for every certificate with extensions.
    public var version: Int { X509_get_version(pointer) + 1 }

    /// Whether it may sign certificates: its basic constraints say so (RFC 5280 section 4.2.1.9), and its key usage, if there is one,
    /// does not forbid it.
    public var isAuthority: Bool {
        // 2 to 5 are libcrypto's guesses for certificates that don't say.
        X509_check_ca(pointer) == 1
    }

    private static func parse(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let pointer = d2i_X509(nil, &position, buffer.count) else { return nil }
            guard position == buffer.baseAddress?.advanced(by: buffer.count) else {
                X509_free(pointer)
                return nil
            }
            return pointer
        }
    }

    private static func isNamed(_ key: OpaquePointer) -> Bool {
        guard EVP_PKEY_is_a(key, "EC") == 1 else { return true }
        var isExplicit: Int32 = 1
        return EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1
            && isExplicit == 0
    }

    private static func publicKeyInfo(of pointer: OpaquePointer) -> [UInt8]? {
        guard let info = X509_get_X509_PUBKEY(pointer) else { return nil }
        var output: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(info, &output)
        guard count > 0, let output else { return nil }
        defer { vestibule_openssl_free(output) }
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }

    private static func keyIdentifier(of pointer: OpaquePointer) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        guard X509_pubkey_digest(pointer, EVP_sha1(), &digest, &count) == 1, Int(count) == digest.count else {
            return nil
        }
        return digest
    }
}
