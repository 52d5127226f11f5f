import COpenSSL

/// Converts between PEM and libcrypto's objects.
enum PEM {
    /// The first certificate; the caller frees it.
    static func certificate(_ text: [UInt8]) throws(CertificateError) -> OpaquePointer {
        let pointer = withInput(text) { PEM_read_bio_X509($0, nil, { _, _, _, _ in -1 }, nil) }
        guard let pointer else {
            ERR_clear_error()
            throw .malformed(what: "certificate")
        }
        return pointer
    }

    /// The private key, which must not be encrypted; the caller frees it.
    static func privateKey(_ text: [UInt8]) throws(CertificateError) -> OpaquePointer {
        // Without this callback libcrypto would ask for a password on the terminal.
        let pointer = withInput(text) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
        guard let pointer else {
            ERR_clear_error()
            throw .malformed(what: "private key")
        }
        return pointer
    }

    /// A certificate as text.
    static func text(of certificate: OpaquePointer) throws(CertificateError) -> [UInt8] {
        guard let output = BIO_new(BIO_s_mem()) else { throw .failure("allocate") }
        defer { BIO_free(output) }
        guard PEM_write_bio_X509(output, certificate) == 1 else { throw .failure("write a certificate") }
        var bytes = [UInt8](repeating: 0, count: CertificateAuthority.pemBytesMax)
        let count = BIO_read(output, &bytes, Int32(bytes.count))
        guard count > 0, Int(count) < bytes.count else { throw .failure("write a certificate") }
        return Array(bytes[..<Int(count)])
    }

    /// The BIO reads the bytes in place: they don't move until the body returns.
    private static func withInput(_ text: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        guard text.count <= CertificateAuthority.pemBytesMax else { return nil }
        return text.withUnsafeBytes { buffer in
            guard let input = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
            defer { BIO_free(input) }
            return body(input)
        }
    }
}
