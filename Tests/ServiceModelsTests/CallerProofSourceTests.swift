import API
import Foundation
import KeyRings
import Logging
import Models
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import Testing

/// A service's proof keys, which are read from a folder repeatedly.
final class CallerProofSourceTests {
    private static let clock = WallClock { 1_800_000_000_000 }
    private static let settings = CallerProofSettings(service: "profile")
    private let folders: KeyFolders
    private let user: UserID

    init() throws {
        let secrets = FileManager.default.temporaryDirectory.path + "/vestibule-proofs-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: true)
        folders = KeyFolders(secrets: secrets)
        _ = try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: 0)
        user = try #require(UserID("0190c2a5-7f00-7000-8000-000000000001"))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folders.secrets)
    }

    private func source(_ values: [String: String] = [:]) throws -> CallerProofSource {
        let named = ["VESTIBULE_PROFILE_KEYS_FOLDER": folders.folder(of: "profile").path]
        let configuration = try Configuration(
            keys: Self.settings.all,
            program: "profile",
            environment: named.merging(values) { $1 }
        )
        return try CallerProofSource(.profile, Self.settings, configuration)
    }

    private func problem(_ values: [String: String]) throws -> String {
        let faults = try #require(throws: ConfigurationErrors.self) { try source(values) }
        return faults.description
    }

    /// A call with a proof that identity makes now.
    private func context() throws -> ServerContext {
        let master = try KeyKind.randomKey(try #require(try folders.own.read(.proof)).current.text)
        let key = try #require(CallerProofKey(master: master, service: "profile"))
        let minute = CallerProof.minute(madeAtMilliseconds: Self.clock.nowMilliseconds)
        let proof = CallerProof(userID: user, sessionID: nil, minute: minute).text(under: key, for: "profile")
        return ServerContext(
            ServerCall(
                method: ProfileServiceMethods.getProfile,
                metadata: Metadata([CallerProofKey.metadataName: proof]),
                deadline: nil,
                peer: PeerInfo(address: "127.0.0.1:1", isEncrypted: false, certificateNames: [])
            )
        )
    }

    private func step() throws {
        var rules = KeyRotation.Rules()
        (rules.everySeconds, rules.skipsWait) = (0, true)
        let outcome = try KeyRotation(folders: folders, rules: rules).step(.proof, nowSeconds: 0)
        #expect(outcome.step != nil)
    }

    @Test func `A service without a folder of its keys doesn't start, and the error names the command that makes it`()
        throws
    {
        let name = "VESTIBULE_PROFILE_KEYS_FOLDER"
        #expect(
            try problem([name: ""])
                == "\(name) is required: the folder profile-keys of those that `vestibule init` makes"
        )
        let file = folders.folder(of: "profile").file(.proof)
        for (folder, told) in [
            ("/nowhere", "/nowhere/proof.json is not there; `vestibule init` makes it"),
            (folders.own.path, "\(folders.own.file(.proof)) holds other keys than those of profile"),
        ] {
            #expect(try problem([name: folder]) == "\(name) names a folder in which \(told)")
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let key = try #require(try folders.folder(of: "profile").read(.proof, of: "profile")).current.text
        try FileManager.default.removeItem(atPath: file)
        try text.replacing(key, with: "hush").write(toFile: file, atomically: false, encoding: .utf8)
        let told = try problem([:])
        #expect(told.contains("has a key that is not 32 bytes") && !told.contains("hush"))
    }

    @Test func `Each step of a rotation is adopted, and a folder that can't be used changes nothing`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let source = try source()
        let callers = CurrentCallers(source.callers.reading(Self.clock), group: group)
        let reader = source.reader(for: callers, clock: Self.clock, logger: Logger(label: "test"))
        func isTaken(_ context: ServerContext) async throws -> Bool {
            let onLoop = try await group.loops[0].run { [user] in
                (try? callers.current.user(of: context)) == user
            }
            #expect(((try? callers.current.user(of: context)) == user) == onLoop)
            return onLoop
        }
        func areTaken(_ contexts: ServerContext...) async throws -> [Bool] {
            var taken: [Bool] = []
            for context in contexts { taken.append(try await isTaken(context)) }
            return taken
        }
        let first = try context()
        #expect(try await isTaken(first))
        // The key is published, and read by all programs before it is used.
        try step()
        await reader.read()
        try step()
        let second = try context()
        #expect(try await areTaken(first, second) == [true, true])
        await reader.read()
        #expect(try await areTaken(first, second) == [true, true])

        let file = folders.folder(of: "profile").file(.proof)
        let good = try Data(contentsOf: URL(filePath: file))
        for bad in [Data("no keys".utf8), nil] {
            try FileManager.default.removeItem(atPath: file)
            try bad?.write(to: URL(filePath: file))
            await reader.read()
            #expect(try await areTaken(first, second) == [true, true])
            try good.write(to: URL(filePath: file))
        }
        _ = try KeyRotation(folders: folders).replaceAll(.proof, nowSeconds: 0)
        #expect(try await !isTaken(context()), "the folder hasn't been read yet")
        await reader.read()
        #expect(try await isTaken(context()))
        #expect(try await areTaken(first, second) == [false, false])

        var text = MetricsText()
        reader.write(to: &text)
        for line in [
            #"vestibule_profile_key_folder_reads_total{outcome="changed"} 3"#,
            #"vestibule_profile_key_folder_reads_total{outcome="failed"} 2"#,
            #"vestibule_profile_own_keys{kind="proof",state="current"} 1"#,
            #"vestibule_profile_own_keys{kind="proof",state="retired"} 0"#,
        ] { #expect(text.text.contains(line), "\(text.text)") }
        await group.shutdown()
    }
}
