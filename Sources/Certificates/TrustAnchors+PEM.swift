import COpenSSL

extension TrustAnchors {
    /// The maximum of certificates in a file.
    public static let fileCertificatesMax = CertificateChain.certificatesMax

    /// Anchors of a file in PEM, with one certificate or several. Text around them is ignored.
    ///
    /// - Throws: ``CertificateError/malformed(what:)`` for a file without certificates, with more than ``fileCertificatesMax``, or with
    ///   one that can't be read: anchors that are silently missing would be found only when a chain is rejected.
    public init(pem: [UInt8], kind: Kind = .roots) throws(CertificateError) {
        let blocks = CertificateChain.blocks(pem)
        let begin = "-----BEGIN CERTIFICATE-----"
        let begun = String(decoding: pem, as: UTF8.self).split(whereSeparator: \.isNewline)
            .count { $0.utf8.starts(with: begin.utf8) }
        guard begun == blocks.count else { throw .malformed(what: "list of certificates") }
        var certificates: [Certificate] = []
        for block in blocks { certificates.append(try Certificate(der: Self.der(of: block))) }
        guard let anchors = TrustAnchors(certificates, kind: kind) else {
            throw .malformed(what: "list of certificates")
        }
        self = anchors
    }

    private static func der(of pem: [UInt8]) throws(CertificateError) -> [UInt8] {
        let pointer = try PEM.certificate(pem)
        defer { X509_free(pointer) }
        var output: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(pointer, &output)
        guard count > 0, let output else { throw .failure("write a certificate") }
        defer { vestibule_openssl_free(output) }
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }
}
