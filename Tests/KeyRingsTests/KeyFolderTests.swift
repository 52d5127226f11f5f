import Foundation
import JOSE
import ServiceKit
import Testing

@testable import KeyRings

struct KeyFolderTests {
    private func withParent(_ body: (String) throws -> Void) throws {
        let parent = FileManager.default.temporaryDirectory.appending(path: "vestibule-keys-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: parent) }
        try body(parent)
    }

    private func initialize(_ parent: String, now: Int64 = 1_000) throws -> (KeyFolder, [KeyFolders.Entry]) {
        let folders = KeyFolders(secrets: parent)
        return (folders.own, try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: now))
    }

    @Test func `A folder of single files is read as the first state`() throws {
        try withParent { parent in
            let (signing, other) = (try SigningKey.generateP256(), try SigningKey.generateP256())
            let files: [String: Data] = [
                "identity-signing-key.pem": Data(try signing.pem().utf8),
                "identity-signing-key-other.pem": Data(try other.pem().utf8),
                "identity-refresh-key": Data(repeating: 1, count: 32), "identity-refresh-key-other": Data(),
            ]
            for (name, data) in files { try data.write(to: URL(filePath: "\(parent)/\(name)")) }
            let (folder, made) = try initialize(parent)
            #expect(
                made.map(\.name) == [
                    "keys/signing.json", "keys/rsa.json", "keys/refresh.json", "keys/proof.json",
                    "profile-keys/proof.json",
                    "invites-keys/proof.json", "keys/vault.json", "keys/cursor.json",
                    "invites-keys/cursor.json",
                ]
            )
            #expect(made.allSatisfy { $0.change == .made })

            let ring = try #require(try folder.read(.signing))
            #expect(ring.keys.map(\.id) == [signing.keyID, other.keyID])
            #expect(ring.keys.map(\.state) == [.current, .retired])
            #expect(try SigningKey(pem: ring.current.text).keyID == signing.keyID)
            #expect(ring.retired[0].text == (try other.verificationKey.pem()), "its public half")
            // Its file may be as old as the key, which was in use until a moment ago.
            #expect(ring.retired[0].sinceSeconds == 1_000)
            #expect(ring.current.sinceSeconds > 1_000_000_000)
            let refresh = try #require(try folder.read(.refresh))
            #expect(try refresh.keys.map { try KeyKind.randomKey($0.text) } == [[UInt8](repeating: 1, count: 32)])
            for (name, data) in files { #expect(try Data(contentsOf: URL(filePath: "\(parent)/\(name)")) == data) }

            let (_, again) = try initialize(parent, now: 2_000)
            #expect(again.allSatisfy { $0.change == .kept })
            #expect(try folder.read(.signing) == ring)
        }
    }

    @Test func `A repeated former key counts once, and a malformed one is reported without showing it`() throws {
        try withParent { parent in
            let pem = Data(try SigningKey.generateP256().pem().utf8)
            for name in ["identity-signing-key.pem", "identity-signing-key-other.pem"] {
                try pem.write(to: URL(filePath: "\(parent)/\(name)"))
            }
            try Data("hush-hush".utf8).write(to: URL(filePath: "\(parent)/identity-refresh-key"))
            let fault = #expect(throws: FileError.self) { try initialize(parent) }
            #expect(fault?.description.contains("identity-refresh-key doesn't have 32 bytes") == true)
            try FileManager.default.removeItem(atPath: "\(parent)/identity-refresh-key")
            let (folder, made) = try initialize(parent)
            #expect(made.map(\.change) == [.kept, .kept] + Array(repeating: .made, count: 7))
            #expect(try #require(try folder.read(.signing)).keys.count == 1)
        }
    }

    @Test(arguments: [
        ("no JSON", "is not a key file"), (#"{"format":2,"kind":"signing","keys":[]}"#, "another version"),
        (#"{"format":1,"kind":"refresh","keys":[]}"#, "another kind"),
        (#"{"format":1,"kind":"signing","keys":[]}"#, "exactly one current"),
        (#"{"format":1,"kind":"signing","keys":[{"id":"a","state":"old","since":1,"key":"x"}]}"#, "cannot be read"),
        // Adding the time of the next step to it must not overflow.
        (
            #"{"format":1,"kind":"signing","keys":[{"id":"a","state":"current","since":9223372036854775807,"key":"x"}]}"#,
            "cannot be read"
        ),
        (
            #"{"format":1,"kind":"signing","keys":[{"id":"a","state":"current","since":-1,"key":"x"}]}"#,
            "cannot be read"
        ),
        (
            #"{"format":1,"kind":"signing","keys":[{"id":"a","state":"current","since":1,"key":"x"},{"id":"a","state":"retired","since":1,"key":"x"}]}"#,
            "a key twice"
        ),
        (
            #"{"format":1,"kind":"signing","keys":[{"id":"a","state":"current","since":1,"key":"x"},{"id":"b","state":"next","since":1,"key":"x"},{"id":"c","state":"next","since":1,"key":"x"}]}"#,
            "more than one next"
        ),
    ])
    func `A file that can't be used is refused with its path`(content: String, problem: String) throws {
        try withParent { parent in
            let folder = KeyFolder(path: parent)
            try Data(content.utf8).write(to: URL(filePath: folder.file(.signing)))
            let fault = #expect(throws: FileError.self) { try folder.read(.signing) }
            #expect(fault?.description.contains(problem) == true, "\(fault as Any)")
            #expect(fault?.description.hasPrefix(folder.file(.signing)) == true)
            #expect(try KeyFolder(path: parent + "/nowhere").read(.signing) == nil)
        }
    }

    /// Otherwise a service that runs as another user could not start after root has rotated its keys.
    @Test(.enabled(if: geteuid() == 0, "root alone gives files away"))
    func `A file that is replaced stays with its owner, its group and its permissions`() throws {
        try withParent { parent in
            let (folder, _) = try initialize(parent)
            let file = folder.file(.refresh)
            #expect(chown(file, 1_234, 4_321) == 0 && chmod(file, 0o640) == 0)
            var rules = KeyRotation.Rules()
            rules.everySeconds = 0
            let rotation = KeyRotation(folders: KeyFolders(secrets: parent), rules: rules)
            #expect(try rotation.step(.refresh, nowSeconds: 1_000).step != nil)
            var status = stat()
            #expect(stat(file, &status) == 0)
            #expect(status.st_uid == 1_234 && status.st_gid == 4_321 && status.st_mode & 0o777 == 0o640)
        }
    }

    @Test func `Nothing printed contains a key`() throws {
        try withParent { parent in
            let (folder, _) = try initialize(parent)
            for kind in KeyKind.all {
                let ring = try #require(try folder.read(kind))
                #expect(!"\(ring)".contains(ring.current.text))
                #expect("\(ring)".contains("\(ring.current.id) current"))
                #expect(try KeyRing(kind: kind.name, parsing: ring.serialized) == ring)
            }
        }
    }
}
