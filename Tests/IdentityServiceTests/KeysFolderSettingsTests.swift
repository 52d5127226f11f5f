import Foundation
import IdentityDomain
import JOSE
import KeyRings
import Models
import ServiceKit
import Testing

@testable import IdentityService

/// Where identity's own keys are read from.
struct KeysFolderSettingsTests {
    private let fixture: SettingsFixture
    private let folders: KeyFolders
    private let folder: KeyFolder
    private let parent: String

    init() throws {
        fixture = try SettingsFixture()
        parent = FileManager.default.temporaryDirectory.appending(path: "vestibule-keys-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        folders = KeyFolders(secrets: parent)
        folder = folders.own
        _ = try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: 0)
    }

    private func cleaned(_ body: () throws -> Void) rethrows {
        defer { try? FileManager.default.removeItem(atPath: parent) }
        try body()
    }

    private var named: [String: String] { ["VESTIBULE_IDENTITY_KEYS_FOLDER": folder.path] }
    private let noFiles = ["VESTIBULE_IDENTITY_SIGNING_KEY_FILE": "", "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": ""]

    @Test func `The folder's keys replace those of files, kind by kind`() throws {
        try cleaned {
            let ring = try #require(try folder.read(.signing))
            let both = try fixture.settings(named)
            let rsa = try #require(try folder.read(.rsa))
            #expect(both.issuer.keySet.entries.map(\.keyID) == [ring.current.id, rsa.current.id])
            #expect(both.keyRings.map(\.kind) == ["signing", "rsa", "refresh", "proof", "vault", "cursor"])
            #expect(try fixture.settings(named.merging(noFiles) { $1 }).keyRings == both.keyRings)

            try FileManager.default.removeItem(atPath: folder.file(.signing))
            let mixed = try fixture.settings(named)
            #expect(
                mixed.issuer.keySet.entries.map(\.keyID) == [
                    try SigningKey(pem: fixture.signingPEM).keyID, rsa.current.id,
                ]
            )
            #expect(mixed.keyRings.map(\.kind) == ["rsa", "refresh", "proof", "vault", "cursor"])

            let files = try fixture.settings()
            #expect(files.keyRings.map(\.kind) == ["proof", "cursor"], "which have no files")
            #expect(files.vault == nil, "no provider's token is kept")
        }
    }

    @Test func `Every key of the folder verifies, and the current one signs`() throws {
        try cleaned {
            var rules = KeyRotation.Rules()
            (rules.everySeconds, rules.skipsWait) = (0, true)
            let rotation = KeyRotation(folders: folders, rules: rules)
            let former = try #require(try folder.read(.refresh)).current
            // One published, one in use, and another one published.
            for kind in KeyKind.all { for _ in 0..<3 { _ = try rotation.step(kind, nowSeconds: 0) } }
            let settings = try fixture.settings(named)
            let ring = try #require(try folder.read(.signing))
            #expect(ring.keys.map(\.state) == [.current, .next, .retired])
            let rsa = try #require(try folder.read(.rsa)).keys.map(\.id)
            let ids = settings.issuer.keySet.entries.map(\.keyID)
            #expect(ids.filter { !rsa.contains($0) } == ring.keys.map(\.id) && Set(rsa).isSubset(of: ids))
            let token = RefreshToken(sessionID: .init(high: 1, low: 2), number: 0, nonce: SecureRandom.bytes(16))
            let old = try #require(RefreshKeys([try KeyKind.randomKey(former.text)]))
            #expect(settings.refreshKeys.verify(old.mint(token)) == token)
            let current = try #require(try folder.read(.refresh)).current
            let new = try #require(RefreshKeys([try KeyKind.randomKey(current.text)]))
            #expect(new.verify(settings.refreshKeys.mint(token)) == token)
            let vaultRing = try #require(try folder.read(.vault))
            let vault = try #require(settings.vault)
            #expect(vault.currentID == vaultRing.current.id && vault.retiredIDs == vaultRing.retired.map(\.id))
            #expect(vault.ids == vaultRing.keys.map(\.id).sorted())
        }
    }

    @Test func `A missing key is an error that says where the key was expected`() throws {
        try cleaned {
            #expect(
                fixture.problems(["VESTIBULE_IDENTITY_KEYS_FOLDER": ""]) == [
                    "VESTIBULE_IDENTITY_KEYS_FOLDER is required: the folder keys of those that `vestibule init` makes"
                ]
            )
            for (kind, name) in [(KeyKind.signing, "SIGNING"), (.refresh, "REFRESH")] {
                let file = folder.file(kind)
                try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
                let problems = fixture.problems(named.merging(noFiles) { $1 })
                let missing = "\(file) is not there; `vestibule init` makes it"
                #expect(problems == ["VESTIBULE_IDENTITY_\(name)_KEY_FILE is required, since \(missing)"])
                try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
            }
            // There are no files for these keys.
            try FileManager.default.removeItem(atPath: folder.file(.proof))
            let missing = "\(folder.file(.proof)) is not there; `vestibule init` makes it"
            let told = "VESTIBULE_IDENTITY_KEYS_FOLDER names a folder in which \(missing)"
            #expect(fixture.problems(named) == [told])
        }
    }

    @Test func `A file of the folder that can't be used is an error, even if there are separate files`() throws {
        try cleaned {
            let key = KeyRing.Key(id: "a", state: .current, sinceSeconds: 0, text: "hush-hush")
            for (kind, problem) in [
                (KeyKind.signing, "no private key in PEM"), (.refresh, "not 32 bytes"), (.proof, "not 32 bytes"),
                (.vault, "not 32 bytes"),
            ] {
                let file = folder.file(kind)
                let good = try Data(contentsOf: URL(filePath: file))
                try Data(try Self.content(kind, key)).write(to: URL(filePath: file))
                let problems = fixture.problems(named)
                #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
                #expect(!problems[0].contains("hush"))
                try good.write(to: URL(filePath: file))
            }
            // A service's own keys are not master keys, so a wrong folder is reported at the start.
            let services = ["VESTIBULE_IDENTITY_KEYS_FOLDER": folders.folder(of: "profile").path]
            #expect(fixture.problems(services).first?.contains("other keys than those of identity itself") == true)
            try Data("{}".utf8).write(to: URL(filePath: folder.file(.signing)))
            #expect(fixture.problems(named).first?.contains("is not a key file") == true)
        }
    }

    private static func content(_ kind: KeyKind, _ key: KeyRing.Key) throws -> [UInt8] {
        let object: JSONObject = [
            "format": 1, "kind": .string(kind.name),
            "keys": [
                [
                    "id": .string(key.id), "state": .string(key.state.rawValue), "since": .integer(key.sinceSeconds),
                    "key": .string(key.text),
                ]
            ],
        ]
        return object.serialized()
    }

    /// The rotation must not drop a key while its tokens are valid, nor use one that a cached key set lacks.
    @Test func `The lifetimes that the rotation assumes are the actual ones`() throws {
        try cleaned {
            let longest = try fixture.settings(["VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME": "1h"])
            #expect(longest.limits.accessTokenSeconds == KeyKind.accessTokenSecondsMax)
            #expect(fixture.problems(["VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME": "3601s"]).count == 1)
            #expect(AudiencePolicy.accessTokenSecondsRange.upperBound <= KeyKind.accessTokenSecondsMax)
            #expect(KeyRotation.Rules().sessionSeconds == SessionLimits().absoluteSeconds)
            #expect(KeyRing.keysMax == RefreshKeys.keysMax && KeyKind.randomByteCount == RefreshKeys.keyByteCount)
            #expect(KeyReader.interval < .seconds(KeyRotation.Rules().spreadSeconds))
        }
    }
}
