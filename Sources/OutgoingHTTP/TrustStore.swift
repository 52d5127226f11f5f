import COpenSSL
import Glibc

/// The certificates of authorities that servers are trusted by. They are read once; whoever changes the file starts the program
/// anew.
public final class TrustStore: @unchecked Sendable {
    // Sound because the pointer is a constant, and OpenSSL guards a store that several contexts share by a lock of its own.

    /// A file that could not be read as certificates in PEM.
    public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The file.
        public let path: String
        /// The error in a few words.
        public var description: String { "\(path) holds no certificates in PEM that can be read" }
    }

    /// Where distributions keep the certificates of public authorities in one file: Debian and Ubuntu, and Fedora.
    private static let systemFiles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    let store: OpaquePointer

    /// The authorities that this system trusts. Where it has no list of them, none: then no server is trusted.
    ///
    /// Reads a file, which takes some 20 ms: not on a loop that serves.
    public static func system() -> TrustStore {
        for path in systemFiles {
            if let store = try? TrustStore(file: path) { return store }
        }
        return TrustStore()
    }

    /// The authorities of a file in PEM, and no others. Reads it at once.
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
