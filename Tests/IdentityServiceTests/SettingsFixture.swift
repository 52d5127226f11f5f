import Foundation
import JOSE
import KeyRings
import ServiceKit
import Synchronization

@testable import IdentityService

/// A configuration of identity in which all is right, to be changed by a test.
struct SettingsFixture {
    let signingPEM: String
    /// Files that are always there, besides those of a test.
    private let files: [String: [UInt8]]

    /// Made once: RSA keys take their time.
    private static let keys = Result {
        (
            signing: try SigningKey.generateP256().pem(), apple: try SigningKey.generateP256().pem(),
            rsa: try SigningKey.generateRSA2048().pem()
        )
    }

    /// A folder of keys with those of proofs alone, which have no other place. Made once, and removed at the end.
    static let keysFolder: Result<String, any Error> = Result { try makeKeysFolder() }

    private static func makeKeysFolder() throws -> String {
        let secrets = "\(FileManager.default.temporaryDirectory.path)/vestibule-settings-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: true)
        let folders = KeyFolders(secrets: secrets)
        _ = try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: 0)
        try FileManager.default.removeItem(atPath: folders.own.file(.signing))
        try FileManager.default.removeItem(atPath: folders.own.file(.refresh))
        try FileManager.default.removeItem(atPath: folders.own.file(.vault))
        try FileManager.default.removeItem(atPath: folders.own.file(.rsa))
        atexit {
            guard let keys = try? SettingsFixture.keysFolder.get() else { return }
            try? FileManager.default.removeItem(atPath: String(keys.dropLast("/keys".count)))
        }
        return folders.own.path
    }

    static let providersFile = "VESTIBULE_IDENTITY_PROVIDERS_FILE"
    static let noAudiences = ["VESTIBULE_IDENTITY_APPLE_AUDIENCES": "", "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": ""]

    init() throws {
        let keys = try Self.keys.get()
        signingPEM = keys.signing
        files = [
            "signing": Array(signingPEM.utf8), "refresh": [UInt8](repeating: 1, count: 32),
            // What a providers file in the folder `etc` may name.
            "etc/apple.p8": Array(keys.apple.utf8), "/keys/apple.p8": Array(keys.apple.utf8),
            "etc/rsa.p8": Array(keys.rsa.utf8), "etc/secret": Array("hush-hush\n".utf8), "etc/empty": [],
            "etc/two-lines": Array("hush\nhush".utf8), "etc/large": [UInt8](repeating: 0x61, count: 20_000),
        ]
    }

    /// Files that a test changes.
    final class ChangingFiles: Sendable {
        private let files: Mutex<[String: [UInt8]]>

        init(_ files: [String: [UInt8]]) { self.files = Mutex(files) }

        subscript(_ path: String) -> [UInt8]? {
            get { files.withLock { $0[path] } }
            set { files.withLock { $0[path] = newValue } }
        }
    }

    func configuration(
        _ values: [String: String],
        files: [String: [UInt8]] = [:],
        changing: ChangingFiles? = nil
    ) throws -> Configuration {
        let environment = [
            "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": "signing", "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": "refresh",
            "VESTIBULE_IDENTITY_KEYS_FOLDER": try Self.keysFolder.get(), "VESTIBULE_DATABASE_HOST": "/tmp",
            "VESTIBULE_IDENTITY_ISSUER": "https://id.example",
            "VESTIBULE_IDENTITY_APPLE_AUDIENCES": "com.acme.one",
            "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": "one.apps.googleusercontent.com",
        ]
        let contents = self.files.merging(files) { _, new in new }
        return try Configuration(
            keys: IdentityServer.configurationKeys,
            program: "identity",
            environment: environment.merging(values) { _, new in new },
            readFile: { (path, bytesMax) throws(FileError) in
                guard let bytes = changing?[path] ?? contents[path] else {
                    throw FileError("cannot be opened: No such file or directory")
                }
                guard bytes.count <= bytesMax else { throw FileError("is longer than \(bytesMax) bytes") }
                return bytes
            }
        )
    }

    func settings(
        _ values: [String: String] = [:],
        files: [String: [UInt8]] = [:],
        changing: ChangingFiles? = nil
    ) throws -> IdentitySettings {
        try IdentitySettings(configuration(values, files: files, changing: changing))
    }

    func problems(_ values: [String: String] = [:], files: [String: [UInt8]] = [:]) -> [String] {
        do {
            _ = try settings(values, files: files)
            return []
        } catch let faults as ConfigurationErrors {
            return faults.faults.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    /// What a providers file alone comes to.
    func providers(_ content: String, _ values: [String: String] = [:]) throws -> ProviderSettings {
        ProviderSettings(
            try configuration(
                Self.noAudiences.merging([Self.providersFile: "etc/providers.json"]) { _, new in new }
                    .merging(values) { _, new in new },
                files: ["etc/providers.json": Array(content.utf8)]
            )
        )
    }
}
