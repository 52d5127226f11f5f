import Glibc
import HTTPClients
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// Keys, their rotation, misbehavior, and the state that is kept between runs.
struct ControlTests {
    private static let order = #"{"client_id":"c","person":{"email":"a@example.com","given_name":"Ana"}}"#

    @Test func `Key sets may be cached, and each provider has its own`() async throws {
        let simulation = try Simulation()
        let (response, _) = try await simulation.send(.get, "/google/oauth2/v3/certs")
        #expect(response.headers[.cacheControl] == "public, max-age=3600, must-revalidate, no-transform")
        let apple = try await simulation.keys("apple").entries.map(\.keyID)
        let google = try await simulation.keys("google").entries.map(\.keyID)
        #expect(apple.count == 2 && google.count == 2 && Set(apple + google).count == 4)
    }

    @Test func `Rotation keeps old tokens valid`() async throws {
        let simulation = try Simulation()
        let old = try await simulation.signIn("apple", Self.order)["identity_token"]?.string
        let (response, answer) = try await simulation.send(.post, "/control/keys/rotate", #"{"provider":"apple"}"#)
        #expect(response.status == .ok)
        let new = try await simulation.signIn("apple", Self.order)["identity_token"]?.string
        #expect(try CompactJWS(parsing: try #require(new)).keyID == answer["kid"]?.string)
        #expect(answer["published"]?.array?.count == 3)
        _ = try await simulation.verifiedClaims(old, "apple")
        _ = try await simulation.verifiedClaims(new, "apple")
        #expect(try await simulation.keys("google").entries.count == 2)
    }

    @Test func `A dropping rotation leaves one key`() async throws {
        let simulation = try Simulation()
        let before = try await simulation.keys("google").entries.map(\.keyID)
        _ = try await simulation.send(.post, "/control/keys/rotate", #"{"provider":"google","drop_old":true}"#)
        let after = try await simulation.keys("google").entries.map(\.keyID)
        #expect(after.count == 1 && !before.contains(after[0]))
    }

    @Test func `Rotation never publishes more than the maximum`() async throws {
        let simulation = try Simulation()
        for _ in 0..<KeyRing.keysMax + 1 {
            _ = try await simulation.send(.post, "/control/keys/rotate", #"{"provider":"apple"}"#)
        }
        #expect(try await simulation.keys("apple").entries.count == KeyRing.keysMax)
    }

    @Test func `Keys fail and recover on demand`() async throws {
        let simulation = try Simulation()
        let (set, answer) = try await simulation.send(
            .post,
            "/control/misbehave",
            #"{"provider":"apple","keys":"error","status":502}"#
        )
        #expect(set.status == .ok)
        #expect(answer == ["keys": "error", "status": 502, "provider": "apple"])
        let (failed, problem) = try await simulation.send(.get, "/apple/auth/keys")
        #expect(failed.status.code == 502)
        #expect(problem["keys"] == nil)
        #expect(try await simulation.keys("google").entries.count == 2)
        _ = try await simulation.send(.post, "/control/misbehave", #"{"provider":"apple","keys":"off"}"#)
        #expect(try await simulation.keys("apple").entries.count == 2)
    }

    @Test func `Keys are slow on demand`() async throws {
        let simulation = try Simulation()
        _ = try await simulation.send(
            .post,
            "/control/misbehave",
            #"{"provider":"apple","keys":"slow","delay_ms":150}"#
        )
        let took = try await ContinuousClock().measure { _ = try await simulation.keys("apple") }
        #expect(took >= .milliseconds(150))
    }

    @Test(arguments: [
        ("/control/misbehave", #"{"provider":"apple","keys":"angry"}"#, "keys"),
        ("/control/misbehave", #"{"provider":"apple","keys":"error","status":200}"#, "status"),
        ("/control/misbehave", #"{"keys":"off"}"#, "provider"),
        ("/control/keys/rotate", #"{"provider":"nobody"}"#, "provider"),
        ("/control/misbehave", #"{"provider":"apple","endpoint":"tokeninfo","mode":"off"}"#, "endpoint"),
        ("/control/misbehave", #"{"provider":"apple","endpoint":"token","mode":"angry"}"#, "mode"),
        ("/control/misbehave", #"{"provider":"apple","endpoint":"token","mode":"redirect"}"#, "location"),
        (
            "/control/misbehave", #"{"provider":"apple","endpoint":"token","mode":"redirect","location":"a\r\nb"}"#,
            "location"
        ),
        ("/control/misbehave", #"{"provider":"apple","endpoint":"token","mode":"drop","times":0}"#, "times"),
        ("/control/misbehave", #"{"provider":"apple","mode":"off"}"#, "endpoint"),
        ("/control/google/clients", #"{"client_id":"a b","client_secret":"s"}"#, "client_id"),
        (
            "/control/apple/clients", #"{"client_id":"a","team_id":"T","key_id":"K","public_key_pem":"x"}"#,
            "public_key_pem"
        ),
    ])
    func `Bad controls are refused`(path: String, body: String, field: String) async throws {
        let (response, answer) = try await Simulation().send(.post, path, body)
        #expect(response.status == .badRequest)
        #expect(answer["fields"]?.array?.map { $0.object?["field"]?.string } == [field])
    }

    @Test func `The health check succeeds`() async throws {
        let (response, answer) = try await Simulation().send(.get, "/healthz")
        #expect(response.status == .ok)
        #expect(answer == ["status": "ok"])
    }

    @Test func `The state is kept between runs`() async throws {
        let path = "/tmp/vestibule-simulator-\(Hex.encode(SecureRandom.bytes(8))).json"
        defer { unlink(path) }
        let first = try Simulation(file: StateFile(path: path))
        let token = try await first.signIn("apple", Self.order)["identity_token"]?.string
        _ = try await first.send(.post, "/control/keys/rotate", #"{"provider":"google"}"#)

        let second = try Simulation(file: StateFile(path: path))
        _ = try await second.verifiedClaims(token, "apple")
        #expect(try await second.keys("google").entries.count == 3)
        #expect(try await second.signIn("apple", Self.order)["user"] == nil)

        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func `A state file of the former version is adopted, with its keys and known people`() async throws {
        let path = "/tmp/vestibule-simulator-\(Hex.encode(SecureRandom.bytes(8))).json"
        defer { unlink(path) }
        let file = StateFile(path: path)
        let state = try Simulation.freshState.get()
        let keys = try [Provider.apple, .google].map { provider in
            let texts = try state.ring(provider).keys.map { JSONValue.string(try $0.pem()) }
            return JSONObject.Member(name: provider.rawValue, value: .array(texts))
        }
        var object: JSONObject = ["version": 1, "keys": [:], "seen": [["c", .string("s")]]]
        var members = JSONObject()
        for key in keys { members[key.name] = key.value }
        object["keys"] = .object(members)
        try file.write(object.serialized())

        let first = try Simulation(file: file)
        #expect(try await first.keys("apple").entries.map(\.keyID) == state.ring(.apple).keys.map(\.keyID))
        let order = #"{"client_id":"c","person":{"sub":"s","given_name":"Ana"}}"#
        #expect(try await first.signIn("apple", order)["user"] == nil)
        let facebook = try await first.keys("facebook").entries.map(\.keyID)
        // It is stored in the current version at once, or Facebook's keys would change at the next start.
        #expect(try await Simulation(file: file).keys("facebook").entries.map(\.keyID) == facebook)
    }

    @Test func `A damaged state is refused`() async throws {
        let path = "/tmp/vestibule-simulator-\(Hex.encode(SecureRandom.bytes(8))).json"
        defer { unlink(path) }
        let file = StateFile(path: path)
        try file.write(Array("{}".utf8))
        #expect(throws: SimulatorState.FormatError.unknownVersion) { try Simulation(file: file) }
        try file.write(Array(#"{"version":1,"keys":{"apple":["x"]},"seen":[]}"#.utf8))
        #expect(throws: SimulatorState.FormatError.malformed) { try Simulation(file: file) }
        try file.write(Array("half".utf8))
        #expect(throws: SimulatorState.FormatError.malformed) { try Simulation(file: file) }
    }

    @Test func `A state that cannot be kept is an error`() throws {
        let file = StateFile(path: "/nonexistent/state.json")
        let fault = #expect(throws: StateFile.AccessError.self) { try Simulation(file: file) }
        #expect(fault?.description == "cannot write /nonexistent/state.json.new: No such file or directory")
    }
}
