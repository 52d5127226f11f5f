import COpenSSL

/// A small certificate authority for the services of one deployment. It signs with ECDSA and SHA-256, and keeps no record of
/// its certificates. No I/O; for one thread at a time.
public final class CertificateAuthority {
    private let certificate: OpaquePointer
    private let key: OpaquePointer

    /// The maximum length of a PEM text.
    static let pemBytesMax = 64 * 1024

    /// Makes an authority of its certificate and private key in PEM.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(CertificateError) {
        let certificate = try PEM.certificate(certificatePEM)
        do throws(CertificateError) {
            key = try PEM.privateKey(keyPEM)
        } catch {
            X509_free(certificate)
            throw error
        }
        self.certificate = certificate
        guard X509_check_private_key(certificate, key) == 1 else {
            ERR_clear_error()
            throw .mismatched
        }
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// The self-signed certificate of a new authority, in PEM.
    ///
    /// - Parameters:
    ///   - name: its common name, for people.
    ///   - keyPEM: its private key.
    public static func certificate(
        name: String,
        keyPEM: [UInt8],
        validity: Validity
    ) throws(CertificateError) -> [UInt8] {
        let key = try PEM.privateKey(keyPEM)
        defer { EVP_PKEY_free(key) }
        let draft = try CertificateDraft(commonName: name, key: key, validity: validity)
        try draft.sign(
            with: key,
            issuer: draft.pointer,
            extensions: [
                (NID_subject_key_identifier, "hash"), (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
            ]
        )
        return try PEM.text(of: draft.pointer)
    }

    /// A certificate in PEM for the owner of a private key, for servers and clients.
    ///
    /// - Parameters:
    ///   - commonName: for people; it is never checked.
    ///   - names: the subject alternative names; at least one.
    ///   - keyPEM: the owner's private key.
    public func issue(
        commonName: String,
        names: [SubjectName],
        keyPEM: [UInt8],
        validity: Validity
    ) throws(CertificateError) -> [UInt8] {
        var texts: [String] = []
        for name in names { texts.append(try name.extensionText) }
        let ownersKey = try PEM.privateKey(keyPEM)
        defer { EVP_PKEY_free(ownersKey) }
        let draft = try CertificateDraft(commonName: commonName, key: ownersKey, validity: validity)
        try draft.sign(
            with: key,
            issuer: certificate,
            extensions: [
                (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid:always"),
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth,clientAuth"), (NID_subject_alt_name, texts.joined(separator: ",")),
            ]
        )
        return try PEM.text(of: draft.pointer)
    }

    /// When a certificate in PEM expires, in seconds since 1970.
    public static func expiry(certificatePEM: [UInt8]) throws(CertificateError) -> Int {
        let certificate = try PEM.certificate(certificatePEM)
        defer { X509_free(certificate) }
        guard let epoch = ASN1_TIME_set(nil, 0) else { throw .failure("set a time") }
        defer { ASN1_TIME_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1 else {
            throw .failure("compare times")
        }
        return Int(days) * 86_400 + Int(seconds)
    }

    /// Whether a private key belongs to a certificate, both in PEM.
    public static func isPair(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(CertificateError) -> Bool {
        let certificate = try PEM.certificate(certificatePEM)
        defer { X509_free(certificate) }
        let key = try PEM.privateKey(keyPEM)
        defer { EVP_PKEY_free(key) }
        defer { ERR_clear_error() }
        return X509_check_private_key(certificate, key) == 1
    }

    /// The number of whole days from `now`, in seconds since 1970, until a certificate in PEM expires; negative if it has.
    public static func daysLeft(certificatePEM: [UInt8], now: Int) throws(CertificateError) -> Int {
        let certificate = try PEM.certificate(certificatePEM)
        defer { X509_free(certificate) }
        guard let start = ASN1_TIME_set(nil, now) else { throw .failure("set a time") }
        defer { ASN1_TIME_free(start) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, start, X509_get0_notAfter(certificate)) == 1 else {
            throw .failure("compare times")
        }
        return seconds < 0 ? Int(days) - 1 : Int(days)
    }
}

extension CertificateError {
    /// An error of libcrypto. Empties the thread's error queue, which the next TLS call would report as its own errors.
    static func failure(_ operation: String) -> CertificateError {
        ERR_clear_error()
        return .cryptography(operation: operation)
    }
}
