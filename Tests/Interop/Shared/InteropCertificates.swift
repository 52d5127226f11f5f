import Foundation

/// The certificates of `--tls` where none are named: a fresh authority and a certificate for `localhost`, 127.0.0.1 and
/// `*.test.google.fr`, the name that gRPC's own tests use. The server makes them with the openssl program, each time that
/// it starts; clients trust the authority that lies there.
public struct InteropCertificates: Sendable {
    /// The authority's certificate, for clients.
    public let authority: String
    /// The server's certificate.
    public let certificate: String
    /// The certificate's key, which only this user may read.
    public let key: String
    private let folder: URL

    private static let daysValid = 30

    /// The files in a folder, which need not exist.
    public init(folder: URL = defaultFolder) {
        self.folder = folder
        authority = folder.appending(path: "authority.pem").path()
        certificate = folder.appending(path: "server.pem").path()
        key = folder.appending(path: "server.key").path()
    }

    /// `.build/interop-certificates` of the sources that this was built from.
    public static let defaultFolder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../.build/interop-certificates").standardizedFileURL

    /// Makes new files, which take the place of the old ones once they are whole. Throws where openssl is missing or
    /// fails.
    public func make() throws {
        let files = FileManager.default
        let fresh = folder.deletingLastPathComponent().appending(path: "interop-certificates-\(UUID().uuidString)")
        try files.createDirectory(at: fresh, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? files.removeItem(at: fresh) }
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        let days = ["-days", "\(Self.daysValid)"]
        try openssl(
            ["req", "-x509"] + curve + days
                + ["-subj", "/CN=interop authority", "-keyout", "authority.key", "-out", "authority.pem"],
            in: fresh
        )
        try openssl(
            ["req"] + curve + ["-subj", "/CN=interop", "-keyout", "server.key", "-out", "server.csr"],
            in: fresh
        )
        let names = "subjectAltName=DNS:localhost,DNS:*.test.google.fr,IP:127.0.0.1\n"
        try names.write(to: fresh.appending(path: "server.ext"), atomically: true, encoding: .utf8)
        try openssl(
            ["x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial"]
                + days + ["-extfile", "server.ext", "-out", "server.pem"],
            in: fresh
        )
        try files.removeItem(at: fresh.appending(path: "authority.key"))
        try? files.removeItem(at: folder)
        try files.moveItem(at: fresh, to: folder)
    }

    private func openssl(_ arguments: [String], in folder: URL) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = folder
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: String(decoding: said, as: UTF8.self)) }
    }

    /// What openssl said.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
