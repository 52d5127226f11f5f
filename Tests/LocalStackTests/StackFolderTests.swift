import Foundation
import JOSE
import KeyRings
import Testing

@testable import LocalStack

struct StackFolderTests {
    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `Makes secrets once, each for this user's eyes only`() throws {
        let temporary = try TemporaryFolder()
        let folder = StackFolder(path: temporary.path + "/stack")
        let made = try folder.initialize()
        #expect(made.count == 22)
        for file in made { #expect(try mode(file) == 0o600) }
        #expect(try mode(folder.secrets) == 0o700)
        #expect(try mode(folder.keys.own.path) == 0o700)
        let signing = try #require(try folder.keys.own.read(.signing))
        #expect(try SigningKey(pem: signing.current.text).algorithm == .es256)
        #expect(try #require(try folder.keys.own.read(.refresh)).keys.count == 1)

        #expect(try folder.initialize().isEmpty)
        #expect(try folder.keys.own.read(.signing) == signing)
    }

    @Test func `Providers and the simulator's clients are written anew at each start, with the same keys`() throws {
        let temporary = try TemporaryFolder()
        let folder = StackFolder(path: temporary.path + "/stack")
        _ = try folder.initialize()
        for port in [7080, 9080] {
            let url = "http://127.0.0.1:\(port)"
            try folder.write(DevelopmentProviders(simulatorURL: url, leavesApple: false, leavesGoogle: port == 9080))
            let providers = try Data(contentsOf: URL(fileURLWithPath: folder.providers))
            let file = try JSONObject(parsing: providers.dropLast())
            #expect(file["providers"]?.array?.count == (port == 7080 ? 3 : 2))
            #expect(file["providers"]?.array?.first?.object?["token_url"]?.string == "\(url)/apple/auth/token")
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.simulatorClients))
        let clients = try JSONObject(parsing: bytes.dropLast())
        let apple = try #require(clients["apple"]?.array).compactMap(\.object)
        #expect(apple.map { $0["key_id"] } == ["DEVKEY0001", "DEVKEY0001", "DEVKEY0001", "DEVKEY0002"])
        let first = try SigningKey(pem: String(contentsOfFile: folder.appleKey(1), encoding: .utf8))
        #expect(apple[0]["public_key_pem"]?.string == (try first.verificationKey.pem()))
        #expect(apple[3]["public_key_pem"] != apple[0]["public_key_pem"])
        for path in [folder.providers, folder.simulatorClients] { #expect(try mode(path) == 0o600) }
        try folder.clean()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test func `An unfinished secret of a start that was cut is made anew`() throws {
        let temporary = try TemporaryFolder()
        let folder = StackFolder(path: temporary.path)
        _ = try folder.initialize()
        for file in [folder.keys.own.file(.refresh), folder.addressKey] {
            try FileManager.default.moveItem(atPath: file, toPath: file + ".new")
            #expect(try folder.initialize() == [file])
            #expect(!FileManager.default.fileExists(atPath: file + ".new"))
        }
    }

    @Test func `Cleaning takes everything, is refused while a stack runs, and can be done twice`() throws {
        let temporary = try TemporaryFolder()
        let folder = StackFolder(path: temporary.path + "/stack")
        _ = try folder.initialize()
        let lock = try folder.lock()
        let refusal = #expect(throws: StackError.self) { try folder.clean() }
        #expect(refusal?.description.contains("already running") == true)
        #expect(FileManager.default.fileExists(atPath: folder.keys.own.file(.signing)))
        close(lock)
        try retrying { try folder.clean() }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try folder.clean()
    }

    @Test func `Cleaning leaves what isn't ours`() throws {
        let temporary = try TemporaryFolder()
        let folder = StackFolder(path: temporary.path)
        _ = try folder.initialize()
        try Data().write(to: URL(fileURLWithPath: temporary.path + "/notes.txt"))
        try folder.clean()
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == ["notes.txt"])
    }
}
