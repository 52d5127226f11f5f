import FoundationEssentials
import Glibc
import RPCTransport

/// A certificate authority in a temporary folder, made with the `openssl` command.
public struct TestAuthority: Sendable {
    private let folder: String
    /// The authority's certificate.
    public var file: String { folder + "/ca.pem" }

    /// The command failed.
    public struct OpenSSLFailed: Error { let arguments: [String] }

    /// Makes an authority.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/vestibule-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=test authority", "-keyout", folder + "/ca.key", "-out", file,
        ])
    }

    /// A certificate for the names (`DNS:…,IP:…`) and its key.
    public func issue(_ name: String, names: String) throws -> TLSConfiguration {
        let base = "\(folder)/\(name)"
        try Self.openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)",
            "-keyout", base + ".key", "-out", base + ".csr",
        ])
        try "subjectAltName=\(names)\n".write(toFile: base + ".ext", atomically: true, encoding: .utf8)
        try Self.openssl([
            "x509", "-req", "-in", base + ".csr", "-CA", file, "-CAkey", folder + "/ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", base + ".ext", "-out", base + ".pem",
        ])
        return TLSConfiguration(certificateChainFile: base + ".pem", privateKeyFile: base + ".key")
    }

    /// Removes all files.
    public func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private static func openssl(_ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var process = pid_t()
        let words = (["openssl"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        guard posix_spawnp(&process, "openssl", &actions, nil, words, environ) == 0 else {
            throw OpenSSLFailed(arguments: arguments)
        }
        var status: Int32 = 0
        guard waitpid(process, &status, 0) == process, status == 0 else { throw OpenSSLFailed(arguments: arguments) }
    }

    /// Puts another certificate and key into the files of a configuration, as a renewal does.
    public static func replace(_ files: TLSConfiguration, with others: TLSConfiguration) throws {
        for (file, other) in [
            (files.certificateChainFile, others.certificateChainFile), (files.privateKeyFile, others.privateKeyFile),
            (files.authoritiesFile, others.authoritiesFile),
        ] {
            guard let file, let other else { continue }
            try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: file), options: .atomic)
        }
    }
}
