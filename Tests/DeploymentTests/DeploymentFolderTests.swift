import Certificates
import Foundation
import JOSE
import KeyRings
import RPCTransport
import ServiceKit
import Testing

@testable import Deployment

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
        let folders = ["keys", "profile-keys", "invites-keys"]
        let keys = try folders.flatMap { keys in
            try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/\(keys)").map { "\(keys)/\($0)" }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for name in names.filter({ !folders.contains($0) }) + keys.filter({ $0 != "keys/.lock" }) {
            found[name] = try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)"))
        }
        return found
    }

    @Test func `Makes everything once, in a folder that only its owner may enter`() throws {
        try withFolder { folder in
            let entries = try folder.initialize(now: now)
            let names = Set(entries.map(\.name))
            #expect(
                names
                    == [
                        "postgres-password", "backup-database-password", "identity-database-password",
                        "profile-database-password",
                        "invites-database-password", "identity-database-owner-password",
                        "profile-database-owner-password", "invites-database-owner-password",
                        "keys/signing.json", "keys/rsa.json", "keys/refresh.json", "keys/proof.json",
                        "profile-keys/proof.json",
                        "invites-keys/proof.json", "keys/vault.json", "keys/cursor.json",
                        "invites-keys/cursor.json", "address-key", "ca.pem",
                        "ca-key.pem", "identity.pem", "identity-key.pem", "profile.pem", "profile-key.pem",
                        "invites.pem", "invites-key.pem", "gateway.pem", "gateway-key.pem", "console.pem",
                        "console-key.pem", "operator.pem",
                        "operator-key.pem",
                    ]
            )
            #expect(names.count == entries.count && entries.allSatisfy(\.isNew))
            #expect(try mode(folder.path) == 0o700)
            let ownersAlone = ["ca-key.pem", "operator-key.pem"]
            for name in names {
                #expect(try mode("\(folder.path)/\(name)") == (ownersAlone.contains(name) ? 0o600 : 0o444))
            }

            let before = try contents(folder)
            #expect(Set(before.keys) == names)
            #expect(before["address-key"]?.count == 32)
            let passwords = before.filter { $0.key.hasSuffix("password") }.values
            #expect(Set(passwords).count == 8 && passwords.allSatisfy { $0.count == 32 })
            let all = KeyFolders(secrets: folder.path)
            for keys in all.all { #expect(try mode(keys.path) == 0o755) }
            let keys = all.own
            let proof = try #require(try keys.read(.proof)).current
            for service in ["profile", "invites"] {
                let master = try KeyKind.randomKey(proof.text)
                let derived = try #require(try all.folder(of: service).read(.proof, of: service)).current
                #expect(
                    try KeyKind.randomKey(derived.text) == CallerProofKey(master: master, service: service)?.bytes
                )
                #expect(derived.id == proof.id)
            }
            let signing = try #require(try keys.read(.signing))
            #expect(try SigningKey(pem: signing.current.text).algorithm == .es256 && signing.keys.count == 1)
            #expect(try #require(try keys.read(.refresh)).keys.count == 1)

            let again = try folder.initialize(now: now)
            #expect(again.allSatisfy { !$0.isNew } && again.map(\.name) == entries.map(\.name))
            #expect(try contents(folder) == before)
        }
    }

    @Test func `The transport accepts the certificates, and each matches its key`() throws {
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

    @Test
    func `A certificate is renewed with a new key in its last third, and nothing else changes`() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            let before = try contents(folder)
            let almost = now + 40 * 86_400
            #expect(try folder.initialize(now: almost).allSatisfy { $0.change == .kept })
            #expect(try contents(folder) == before)

            let entries = try folder.initialize(now: almost + 3_601)
            let renewed = Set(DeploymentFolder.programs.flatMap { ["\($0).pem", "\($0)-key.pem"] })
            #expect(Set(entries.filter { $0.change == .renewed }.map(\.name)) == renewed)
            let after = try contents(folder)
            #expect(Set(after.keys) == Set(before.keys))
            for (name, content) in after { #expect((content != before[name]) == renewed.contains(name), "\(name)") }
            for name in renewed {
                #expect(try mode("\(folder.path)/\(name)") == (name == "operator-key.pem" ? 0o600 : 0o444))
            }
            for entry in entries where entry.name.hasSuffix(".pem") && renewed.contains(entry.name) {
                if let days = entry.daysLeft { #expect(days == 60) }
            }
            try expectPairs(folder)
        }
    }

    @Test func `A renewal keeps the file, so that a container with the file mounted sees it`() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            let names = ["identity.pem", "identity-key.pem"]
            let mounted = try names.map { try #require(FileHandle(forReadingAtPath: "\(folder.path)/\($0)")) }
            let entries = try folder.initialize(now: now, renewing: ["identity"])
            #expect(entries.filter { $0.change == .renewed }.map(\.name).sorted() == names.sorted())
            for (name, file) in zip(names, mounted) {
                #expect(try file.readToEnd() == FileManager.default.contents(atPath: "\(folder.path)/\(name)"))
            }
            #expect(throws: DeploymentError.self) { _ = try folder.initialize(now: now, renewing: ["postgres"]) }
        }
    }

    @Test func `An interrupted renewal is completed`() throws {
        try withFolder { folder in
            for (file, content) in [
                ("profile-key.pem", ""), ("profile.pem", "-----BEGIN"), ("profile-key.pem", "identity"),
            ] {
                _ = try folder.initialize(now: now)
                let path = "\(folder.path)/\(file)"
                let bytes = content == "identity" ? try contents(folder)["identity-key.pem"] : Data(content.utf8)
                try FileManager.default.removeItem(atPath: path)
                try #require(bytes).write(to: URL(filePath: path))
                let entries = try folder.initialize(now: now)
                #expect(entries.filter { $0.change == .renewed }.map(\.name) == ["profile-key.pem", "profile.pem"])
                try expectPairs(folder)
            }
        }
    }

    @Test func `A removed certificate is made again, and a mounted one still matches its key`() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            let before = try contents(folder)
            let key = try #require(FileHandle(forReadingAtPath: "\(folder.path)/identity-key.pem"))
            for name in ["identity.pem", "ca.pem"] {
                try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)")
            }
            let entries = try folder.initialize(now: now)
            #expect(entries.filter(\.isNew).map(\.name) == ["ca.pem", "identity-key.pem", "identity.pem"])
            #expect(try key.readToEnd() == before["identity-key.pem"])
            #expect(try contents(folder)["ca-key.pem"] == before["ca-key.pem"])
            try expectPairs(folder)
        }
    }

    @Test func `The authority's key may be elsewhere, and is read only to make a certificate`() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            let elsewhere = folder.path + "-offline.pem"
            try FileManager.default.moveItem(atPath: folder.path + "/ca-key.pem", toPath: elsewhere)
            defer { try? FileManager.default.removeItem(atPath: elsewhere) }
            let before = try contents(folder)
            let kept = try folder.initialize(now: now)
            #expect(kept.allSatisfy { $0.change == .kept } && !kept.map(\.name).contains("ca-key.pem"))
            let error = #expect(throws: DeploymentError.self) {
                _ = try folder.initialize(now: now, renewing: ["gateway"])
            }
            #expect(error?.description.contains("authority's key") == true)
            #expect(try contents(folder) == before)

            let other = DeploymentFolder(path: folder.path, authorityKeyFile: elsewhere)
            let entries = try other.initialize(now: now, renewing: ["gateway"])
            #expect(entries.filter { $0.change == .renewed }.count == 2)
            #expect(try contents(folder)["ca-key.pem"] == nil)
            try expectPairs(folder)
        }
    }

    /// Every program's key and certificate match, and the certificate is issued by the current authority.
    private func expectPairs(_ folder: DeploymentFolder) throws {
        for program in DeploymentFolder.programs {
            let base = "\(folder.path)/\(program)"
            try TLSConfiguration(
                certificateChainFile: base + ".pem",
                privateKeyFile: base + "-key.pem",
                authoritiesFile: folder.path + "/ca.pem"
            ).check()
        }
    }

    @Test func `A certificate without its key is reported, and not replaced`() throws {
        try withFolder { folder in
            _ = try folder.initialize(now: now)
            try FileManager.default.removeItem(atPath: folder.path + "/gateway-key.pem")
            let before = try contents(folder)
            let error = #expect(throws: DeploymentError.self) { _ = try folder.initialize(now: now) }
            #expect(error?.description.contains("gateway-key.pem is missing") == true)
            #expect(try contents(folder) == before)
        }
    }

    @Test func `A folder without a parent is reported with its path`() throws {
        try withFolder { folder in
            let nested = DeploymentFolder(path: folder.path + "/a/b")
            let error = #expect(throws: (any Error).self) { _ = try nested.initialize(now: now) }
            #expect("\(error.map { "\($0)" } ?? "")".contains(nested.path))
        }
    }
}
