import Certificates
import Foundation
import JOSE
import RPCTransport
import Testing

@testable import Deployment

@Suite("Deployment folder")
struct DeploymentFolderTests {
    private let now = Int(Date().timeIntervalSince1970)

    private func withFolder(_ body: (DeploymentFolder) throws -> Void) throws {
        let parent = FileManager.default.temporaryDirectory.appending(path: "vestibule-init-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: parent) }
        try body(DeploymentFolder(path: parent.path + "/secrets"))
    }

    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func contents(_ folder: DeploymentFolder) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            found[name] = try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)"))
        }
        return found
    }

    @Test("makes everything once, in a folder that only its owner may enter")
    func initialize() throws {
        try withFolder { folder in
            let entries = try folder.initialize(now: now)
            let names = Set(entries.map(\.name))
            #expect(
                names
                    == [
                        "postgres-password", "identity-database-password", "profile-database-password",
                        "invites-database-password", "identity-database-owner-password",
                        "profile-database-owner-password", "invites-database-owner-password",
                        "identity-signing-key.pem", "identity-refresh-key", "identity-signing-key-other.pem",
                        "identity-refresh-key-other", "ca.pem",
                        "ca-key.pem", "identity.pem", "identity-key.pem", "profile.pem", "profile-key.pem",
                        "invites.pem", "invites-key.pem", "gateway.pem", "gateway-key.pem",
                    ]
            )
            #expect(names.count == entries.count && entries.allSatisfy(\.isNew))
            #expect(try mode(folder.path) == 0o700)
            for name in names { #expect(try mode("\(folder.path)/\(name)") == (name == "ca-key.pem" ? 0o600 : 0o444)) }

            let before = try contents(folder)
            #expect(Set(before.keys) == names)
            #expect(before["identity-refresh-key"]?.count == 32)
            #expect(before["identity-signing-key-other.pem"]?.isEmpty == true)
            #expect(before["identity-refresh-key-other"]?.isEmpty == true)
            let passwords = before.filter { $0.key.hasSuffix("password") }.values
            #expect(Set(passwords).count == 7 && passwords.allSatisfy { $0.count == 32 })
            let signingKey = String(decoding: try #require(before["identity-signing-key.pem"]), as: UTF8.self)
            #expect(try SigningKey(pem: signingKey).algorithm == .es256)

            let again = try folder.initialize(now: now)
            #expect(again.allSatisfy { !$0.isNew } && again.map(\.name) == entries.map(\.name))
            #expect(try contents(folder) == before)
        }
    }

    @Test("the transport takes the certificates, and each is its key's")
    func certificates() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            for program in DeploymentFolder.programs {
                let base = "\(folder.path)/\(program)"
                let files = TLSConfiguration(
                    certificateChainFile: base + ".pem",
                    privateKeyFile: base + "-key.pem",
                    authoritiesFile: folder.path + "/ca.pem"
                )
                try files.check()
            }
            let mixed = TLSConfiguration(
                certificateChainFile: folder.path + "/identity.pem",
                privateKeyFile: folder.path + "/profile-key.pem"
            )
            #expect(throws: (any Error).self) { try mixed.check() }
        }
    }

    @Test("a certificate that was removed is made anew for the same key")
    func renewal() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            let before = try contents(folder)
            for name in ["identity.pem", "ca.pem"] {
                try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
            }
            let later = now + 600 * 86_400
            let entries = try folder.initialize(now: later)
            #expect(entries.filter(\.isNew).map(\.name) == ["ca.pem", "identity.pem"])
            let daysLeft = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.daysLeft) })
            #expect(daysLeft["identity.pem"] == DeploymentFolder.certificateDays)
            #expect(daysLeft["profile.pem"] == DeploymentFolder.certificateDays - 600)
            let after = try contents(folder)
            #expect(after["identity-key.pem"] == before["identity-key.pem"])
            #expect(after["identity.pem"] != before["identity.pem"])
        }
    }

    @Test("a certificate without its key is told, and nothing takes its place")
    func lostKey() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            try FileManager.default.removeItem(atPath: folder.path + "/gateway-key.pem")
            let before = try contents(folder)
            let error = #expect(throws: DeploymentError.self) { _ = try folder.initialize(now: now) }
            #expect(error?.description.contains("gateway-key.pem is not") == true)
            #expect(try contents(folder) == before)
        }
    }

    @Test("a folder whose parent isn't there is told with its path")
    func noParent() throws {
        try withFolder { folder in
            let nested = DeploymentFolder(path: folder.path + "/a/b")
            let error = #expect(throws: (any Error).self) { _ = try nested.initialize(now: now) }
            #expect("\(error.map { "\($0)" } ?? "")".contains(nested.path))
        }
    }
}
