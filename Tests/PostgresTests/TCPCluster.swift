import Foundation
import LocalPostgres
import Postgres
import RPC
import RPCTransport
import TestCertificates
import TestDatabases
import TestWaits
import Testing

/// A test's own server on a separate loopback address, which trusts every client.
struct TCPCluster {
    let cluster: LocalCluster
    let address: String
    let folder: String

    /// Whether PostgreSQL was built with TLS: Debian's is, packages of PyPI aren't.
    static let hasTLS: Bool = {
        let configuration = PostgresPrograms.folders(majorVersion: nil).first { folder in
            FileManager.default.isExecutableFile(atPath: "\(folder)/postgres")
        }
        .flatMap { try? ChildProcess.run(["\($0)/pg_config", "--configure"]).output }
        return configuration?.contains("ssl") ?? true
    }()

    /// Starts the server, with TLS if it gets a certificate, calls the body and stops it.
    static func run(
        certificate: TLSConfiguration? = nil,
        _ body: (TCPCluster) async throws -> Void
    ) async throws {
        let folder = "/tmp/vst-tcp-\(UInt64.random(in: 0 ... .max))"
        let access = folder + "-access"
        defer {
            for path in [folder, access, access + ".pem", access + ".key"] {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        let rules = "local all all trust\nhost all all 127.0.0.0/8 trust\n"
        try rules.write(toFile: access, atomically: true, encoding: .utf8)
        // Any address of 127.0.0.0/8 is this machine; the port is the one in the socket's name.
        let address = "127.\((1...250).randomElement() ?? 1).\((0...250).randomElement() ?? 1).54"
        var settings = LocalCluster.Settings.volatileForTests
        settings.parameters["listen_addresses"] = address
        settings.parameters["hba_file"] = access
        if let certificate, let chain = certificate.certificateChainFile, let key = certificate.privateKeyFile {
            // The server needs a key that no other user can read, and may run as another user.
            for (from, to) in [(chain, access + ".pem"), (key, access + ".key")] {
                try FileManager.default.copyItem(atPath: from, toPath: to)
                chmod(to, 0o600)
                if geteuid() == 0, let user = getpwnam("postgres") {
                    chown(to, user.pointee.pw_uid, user.pointee.pw_gid)
                }
            }
            settings.parameters["ssl"] = "on"
            settings.parameters["ssl_cert_file"] = access + ".pem"
            settings.parameters["ssl_key_file"] = access + ".key"
        }
        let cluster = try LocalCluster.start(directory: folder, settings: settings)
        defer { cluster.stop() }
        try cluster.runSQL("CREATE ROLE app LOGIN; CREATE DATABASE app OWNER app;")
        try await body(TCPCluster(cluster: cluster, address: address, folder: folder))
    }

    /// The configuration of role "app" for its database, under a name for the server.
    func configuration(host: String, tls: PostgresTLS) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(
            host: host,
            port: cluster.port,
            user: "app",
            database: "app",
            applicationName: "tests"
        )
        configuration.tls = tls
        configuration.waitLimit = .milliseconds(1500)
        return configuration
    }

    /// Makes the server refuse writes, like a standby, or accept them again.
    func setReadOnly(_ isReadOnly: Bool) async throws {
        try cluster.runSQL("ALTER SYSTEM SET default_transaction_read_only = \(isReadOnly);")
        try cluster.runSQL("SELECT pg_reload_conf();")
        try await eventually {
            try cluster.runSQL("SHOW default_transaction_read_only;") == (isReadOnly ? "on" : "off")
        }
    }
}

/// A client that ends with its loops.
func withClient<R>(
    _ configuration: PostgresConfiguration,
    _ body: (PostgresClient, EventLoopGroup) async throws -> R
) async throws -> R {
    let group = try EventLoopGroup(loopCount: 1, name: "test")
    let client = PostgresClient(configuration, group: group)
    let result: Result<R, any Error>
    do { result = .success(try await body(client, group)) } catch { result = .failure(error) }
    await client.shutdown()
    await group.shutdown()
    return try result.get()
}

/// Resolves names as a test sets them.
struct TableResolver: NameResolver {
    let table: [String: [String]]
    func addresses(of host: String) async -> [String] { table[host] ?? [] }
}
