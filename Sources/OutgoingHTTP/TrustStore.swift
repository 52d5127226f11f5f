import COpenSSL
import Glibc

/// The trusted authorities of servers' certificates. They are read once; after a change of the file the program must be
/// restarted.
public final class TrustStore: @unchecked Sendable {
    // Safe because the pointer is a constant, and OpenSSL's own lock guards a store that several contexts share.

    /// A file that could not be read as certificates in PEM.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// A short description.
        public var description: String { "\(path) has no readable certificates in PEM" }
    }

    /// Distributions' files with the certificates of public authorities: Debian and Ubuntu, and Fedora.
    private static let systemFiles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    let store: OpaquePointer

    /// The authorities that this system trusts. If it has no such file, no server is trusted.
    ///
    /// Reads a file, which takes some 20 ms: don't call it on an event loop.
    public static func system() -> TrustStore {
        for path in systemFiles {
            if let store = try? TrustStore(file: path) { return store }
        }
        return TrustStore()
    }

    /// Only the authorities of a file in PEM. Reads it immediately.
    public init(file path: String) throws(Unreadable) {
        store = Self.emptyStore()
        guard X509_STORE_load_file(store, path) == 1 else {
            ERR_clear_error()
            throw Unreadable(path: path)
        }
    }

    private init() { store = Self.emptyStore() }

    private static func emptyStore() -> OpaquePointer {
        guard let store = X509_STORE_new() else { fatalError("out of memory for certificates") }
        return store
    }

    deinit { X509_STORE_free(store) }
}
