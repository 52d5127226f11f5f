import CRPC

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

/// The loaded rules. Owns the C object.
final class TLSRules: @unchecked Sendable {
    // Sound because the handle is a constant, and OpenSSL counts references to what is behind it atomically.
    let handle: OpaquePointer

    enum Side { case server, client }

    init(_ configuration: TLSConfiguration, side: Side) throws {
        var handle: OpaquePointer?
        var reason = [CChar](repeating: 0, count: Int(CRPC_TLS_REASON_LENGTH))
        let code = Self.withFiles(configuration) { files in
            side == .server
                ? crpc_tls_server_new(files, &reason, &handle) : crpc_tls_client_new(files, &reason, &handle)
        }
        let text = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if code != 0 { throw code == CRPC_ERROR_MEMORY.rawValue ? TransportError.memory : .tls(text) }
        guard let handle else { throw TransportError.memory }
        self.handle = handle
    }

    private static func withFiles<R>(
        _ configuration: TLSConfiguration,
        _ body: (UnsafePointer<crpc_tls_files>) -> R
    ) -> R {
        withOptionalCString(configuration.certificateChainFile) { chain in
            withOptionalCString(configuration.privateKeyFile) { key in
                withOptionalCString(configuration.authoritiesFile) { authorities in
                    var files = crpc_tls_files(certificate_chain: chain, private_key: key, authorities: authorities)
                    return body(&files)
                }
            }
        }
    }

    deinit { crpc_tls_free(handle) }
}

/// A C string of a text, or NULL.
func withOptionalCString<R>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> R) -> R {
    guard let text else { return body(nil) }
    return text.withCString { body($0) }
}
