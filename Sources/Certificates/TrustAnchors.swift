import COpenSSL

/// Why a chain of certificates was rejected. No case has a value out of a certificate, so a log may hold them all.
public enum ChainError: Error, Sendable, Hashable {
    /// There is no certificate.
    case empty
    /// There are more certificates than ``TrustAnchors/chainCertificatesMax``.
    case tooLong
    /// The chain doesn't lead to an anchor by the rules of RFC 5280 section 6: in libcrypto's words.
    case untrusted(reason: String)
    /// libcrypto failed at this operation.
    case cryptography(operation: String)
}

/// Certificates that are trusted by configuration, and the check of a chain against them. No authority of the system is trusted. No
/// I/O, and so no revocation lists. Immutable; threads may use it concurrently.
public struct TrustAnchors: Sendable {
    /// The maximum of certificates in a chain.
    public static let chainCertificatesMax = 8
    /// The maximum of anchors.
    public static let anchorsMax = 256

    /// Which certificates may be anchors.
    public enum Kind: Sendable, Hashable {
        /// Self-signed ones: a chain ends at a root.
        case roots
        /// Any, as in FIDO metadata: a chain may end at an intermediate, or be the anchor itself.
        case anyCertificate
    }

    private let certificates: [Certificate]
    private let kind: Kind

    /// Anchors of these certificates; nil for none, or for more than ``anchorsMax``.
    public init?(_ certificates: [Certificate], kind: Kind = .roots) {
        guard 1...Self.anchorsMax ~= certificates.count else { return nil }
        self.certificates = certificates
        self.kind = kind
    }

    /// Verifies a chain by RFC 5280 section 6: signatures, validity, basic constraints, key usage and path lengths, and that every
    /// critical extension is known.
    ///
    /// Keys and signatures weaker than 112 bits are rejected, SHA-1 among them. Every certificate between the first and the anchor says
    /// itself that it is an authority; of the anchor, the configuration says so. libcrypto's `X509_V_FLAG_X509_STRICT` is not set: it demands an authority key identifier of every certificate,
    /// and those that Apple makes for App Attest have none.
    ///
    /// - Parameters:
    ///   - chain: the certificate, then those that certify it, each by the next; the root itself may be missing.
    ///   - seconds: the time at which all of them must be valid, in seconds since 1970.
    public func verify(_ chain: [Certificate], at seconds: Int) throws(ChainError) {
        guard let first = chain.first else { throw .empty }
        guard chain.count <= Self.chainCertificatesMax else { throw .tooLong }
        guard let store = X509_STORE_new(), let context = X509_STORE_CTX_new(), let others = OPENSSL_sk_new_null()
        else {
            throw .failure("allocate")
        }
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            // The stack doesn't own the certificates; `chain` does, until the end of this call.
            OPENSSL_sk_free(others)
            ERR_clear_error()
        }
        for anchor in certificates where X509_STORE_add_cert(store, anchor.pointer) != 1 {
            throw .failure("add an anchor")
        }
        for certificate in chain.dropFirst() where OPENSSL_sk_push(others, UnsafeRawPointer(certificate.pointer)) <= 0 {
            throw .failure("add a certificate")
        }
        guard X509_STORE_CTX_init(context, store, first.pointer, others) == 1,
            let rules = X509_STORE_CTX_get0_param(context)
        else { throw .failure("prepare the check of a chain") }
        X509_VERIFY_PARAM_set_time(rules, time_t(seconds))
        X509_VERIFY_PARAM_set_depth(rules, Int32(Self.chainCertificatesMax))
        X509_VERIFY_PARAM_set_auth_level(rules, Self.securityLevel)
        if kind == .anyCertificate {
            X509_VERIFY_PARAM_set_flags(rules, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        }
        let isVerified = withExtendedLifetime((chain, certificates)) { X509_verify_cert(context) == 1 }
        guard isVerified else {
            let words = X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context)))
            throw .untrusted(reason: words.map { String(cString: $0) } ?? "unknown")
        }
    }

    /// OpenSSL's level for 112 bits: RSA of 2048 bits, SHA-224.
    private static let securityLevel: Int32 = 2
}

extension ChainError {
    /// An error of libcrypto. Empties the thread's error queue, which the next TLS call would report as its own errors.
    static func failure(_ operation: String) -> ChainError {
        ERR_clear_error()
        return .cryptography(operation: operation)
    }
}
