import CRPC

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
