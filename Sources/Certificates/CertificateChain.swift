import COpenSSL

/// A certificate with its intermediates, as a server presents them. No I/O, but for the system's authorities.
public struct CertificateChain: Sendable {
    private let certificates: [[UInt8]]

    /// The maximum of certificates in a file.
    static let certificatesMax = 32

    /// Reads a file in PEM: the certificate, then its intermediates.
    public init(pem: [UInt8]) throws(CertificateError) {
        // The first must be one; what follows may be something else.
        X509_free(try PEM.certificate(pem))
        certificates = Self.blocks(pem)
    }

    /// When the first of them ends, in seconds since 1970.
    public var end: Int {
        get throws(CertificateError) {
            var ends: [Int] = []
            for certificate in certificates {
                ends.append(try CertificateAuthority.expiry(certificatePEM: certificate))
            }
            return ends.min() ?? 0
        }
    }

    /// Why clients reject it, in libcrypto's words; nil if they accept it.
    ///
    /// - Parameters:
    ///   - authorities: the authorities that clients trust, in PEM; nil for those of the system.
    ///   - name: the host name by which it is reached; nil to check none.
    ///   - now: in seconds since 1970.
    public func problem(authorities: [UInt8]?, name: String?, now: Int) throws(CertificateError) -> String? {
        guard let store = X509_STORE_new(), let context = X509_STORE_CTX_new(), let others = OPENSSL_sk_new_null()
        else {
            throw .failure("allocate")
        }
        var owned: [OpaquePointer] = []
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            OPENSSL_sk_free(others)
            owned.forEach { X509_free($0) }
            ERR_clear_error()
        }
        if let authorities {
            for block in Self.blocks(authorities) {
                let authority = try PEM.certificate(block)
                owned.append(authority)
                X509_STORE_add_cert(store, authority)
            }
        } else {
            X509_STORE_set_default_paths(store)
        }
        for block in certificates {
            let certificate = try PEM.certificate(block)
            owned.append(certificate)
            if block != certificates.first { OPENSSL_sk_push(others, UnsafeRawPointer(certificate)) }
        }
        let own = owned[owned.count - certificates.count]
        guard X509_STORE_CTX_init(context, store, own, others) == 1, let rules = X509_STORE_CTX_get0_param(context)
        else {
            throw .failure("prepare the check of a certificate")
        }
        X509_VERIFY_PARAM_set_time(rules, time_t(now))
        if let name, X509_VERIFY_PARAM_set1_ip_asc(rules, name) != 1 {
            X509_VERIFY_PARAM_set1_host(rules, name, name.utf8.count)
        }
        if X509_verify_cert(context) == 1 { return nil }
        guard let words = X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context))) else {
            return "unknown"
        }
        return String(cString: words)
    }

    /// The certificates of a PEM text, each as a text of its own; at most ``certificatesMax``.
    static func blocks(_ pem: [UInt8]) -> [[UInt8]] {
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        var blocks: [[UInt8]] = []
        var lines: [Substring]?
        for line in String(decoding: pem, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix(begin) { lines = [] }
            lines?.append(line)
            guard line.hasPrefix(end), let whole = lines, blocks.count < certificatesMax else { continue }
            blocks.append(Array((whole.joined(separator: "\n") + "\n").utf8))
            lines = nil
        }
        return blocks
    }
}
