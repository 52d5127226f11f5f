/// PEM files of a server's or a client's TLS. TLS 1.2 or 1.3 with ALPN `h2`, always verified.
public struct TLSConfiguration: Sendable, Hashable {
    /// Our certificate with its intermediates. A server needs it; a client uses it to prove who it is.
    public var certificateChainFile: String?
    /// Our private key.
    public var privateKeyFile: String?
    /// The authorities that the peer's certificate must come from. Nil: a client trusts the system's, and a server asks
    /// for no certificate.
    public var authoritiesFile: String?

    /// Names the files.
    public init(certificateChainFile: String? = nil, privateKeyFile: String? = nil, authoritiesFile: String? = nil) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
        self.authoritiesFile = authoritiesFile
    }

    /// Reads the files that are named, and forgets them. Throws `TransportError.tls`, which says which cannot be used and
    /// why.
    public func check() throws { _ = try TLSRules(self, side: .client) }
}
