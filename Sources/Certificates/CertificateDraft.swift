import COpenSSL

/// A certificate before it is signed (X.509 version 3, RFC 5280). Owns the object.
final class CertificateDraft {
    let pointer: OpaquePointer

    /// RFC 5280 section 4.1.2.2 allows 20 bytes; 19 random bytes can't become negative or longer.
    private static let serialBits: Int32 = 19 * 8

    init(commonName: String, key: OpaquePointer, validity: Validity) throws(CertificateError) {
        guard let pointer = X509_new() else { throw .failure("allocate") }
        self.pointer = pointer
        guard X509_set_version(pointer, 2) == 1, Self.setSerial(pointer), X509_set_pubkey(pointer, key) == 1,
            ASN1_TIME_set(X509_getm_notBefore(pointer), validity.from) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), validity.until) != nil,
            X509_NAME_add_entry_by_txt(
                X509_get_subject_name(pointer),
                "CN",
                V_ASN1_UTF8STRING,
                commonName,
                Int32(commonName.utf8.count),
                -1,
                0
            ) == 1
        else { throw .failure("fill in a certificate") }
    }

    deinit { X509_free(pointer) }

    /// Adds the extensions, each an OpenSSL number and text, and signs.
    func sign(
        with key: OpaquePointer,
        issuer: OpaquePointer,
        extensions: [(Int32, String)]
    ) throws(CertificateError) {
        guard X509_set_issuer_name(pointer, X509_get_subject_name(issuer)) == 1 else {
            throw .failure("set the issuer")
        }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, pointer, nil, nil, 0)
        for (number, text) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, number, text) else {
                throw .failure("make an extension")
            }
            let isAdded = X509_add_ext(pointer, made, -1) == 1
            X509_EXTENSION_free(made)
            guard isAdded else { throw .failure("add an extension") }
        }
        guard X509_sign(pointer, key, EVP_sha256()) > 0 else { throw .failure("sign a certificate") }
    }

    private static func setSerial(_ pointer: OpaquePointer) -> Bool {
        guard let number = BN_new() else { return false }
        defer { BN_free(number) }
        // The top bit is set, so it is never zero.
        return BN_rand(number, serialBits, 0, 0) == 1
            && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }
}
