import Glibc
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// How Apple's endpoints check a client's secret.
struct AppleClientSecretTests {
    private func status(
        _ simulation: Simulation,
        _ client: AppleClient,
        _ secret: String
    ) async throws -> HTTPResponse.Status {
        let fields = try client.exchange(await simulation.code(clientID: client.clientID), secret: secret)
        let (response, answer) = try await simulation.post("/apple/auth/token", fields)
        #expect(response.status == .ok || answer == ["error": "invalid_client"])
        return response.status
    }

    @Test(arguments: [
        ("iss", JSONValue.string("OTHERTEAM1")), ("iss", .null), ("sub", .string("com.example.other")), ("sub", .null),
        ("aud", .string("https://example.com")), ("aud", .null), ("iat", .null), ("exp", .null),
        ("exp", .integer(Simulation.nowSeconds)), ("exp", .integer(Simulation.nowSeconds + 15_777_001)),
        ("iat", .integer(Simulation.nowSeconds + 61)), ("exp", .integer(.min)), ("exp", .integer(.max)),
    ])
    func `A claim that is wrong or missing is refused`(name: String, value: JSONValue) async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        _ = try await simulation.send(.post, "/control/apple/clients", client.registration.text)
        let secret = try client.secret { $0[name] = value == .null ? nil : value }
        #expect(try await status(simulation, client, secret) == .badRequest)
    }

    @Test func `The longest lifetime that Apple allows is accepted`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let secret = try client.secret { $0["exp"] = .integer(Simulation.nowSeconds + 15_777_000) }
        #expect(try await status(simulation, client, secret) == .ok)
    }

    @Test func `A registered client needs a signature by one of its keys`() async throws {
        let simulation = try Simulation()
        let (first, second) = (try AppleClient(), try AppleClient(keyID: "KEY2222222"))
        // Without registered clients any well-formed secret is accepted.
        #expect(try await status(simulation, second, second.secret()) == .ok)
        let (response, answer) = try await simulation.send(.post, "/control/apple/clients", first.registration.text)
        #expect(response.status == .ok)
        #expect(answer == ["client_id": "com.example.app", "key_id": "KEY1234567"])
        #expect(try await status(simulation, first, first.secret()) == .ok)
        #expect(try await status(simulation, second, second.secret()) == .badRequest)
        let forged = try AppleClient()
        #expect(try await status(simulation, forged, forged.secret()) == .badRequest)
        _ = try await simulation.send(.post, "/control/apple/clients", second.registration.text)
        #expect(try await status(simulation, first, first.secret()) == .ok)
        #expect(try await status(simulation, second, second.secret()) == .ok)
    }

    @Test func `Another algorithm, a missing key id and a malformed token are refused`() async throws {
        let simulation = try Simulation()
        let client = try AppleClient()
        let rsa = try SigningKey.generateRSA2048()
        let claims: JSONObject = [
            "iss": "TEAM123456", "sub": "com.example.app", "aud": "https://appleid.apple.com",
            "iat": .integer(Simulation.nowSeconds), "exp": .integer(Simulation.nowSeconds + 300),
        ]
        #expect(try await status(simulation, client, rsa.signedToken(claims: claims)) == .badRequest)
        #expect(try await status(simulation, client, "secret") == .badRequest)
        let header = Base64URL.encode(#"{"alg":"ES256"}"#.utf8)
        let parts = try client.secret().split(separator: ".")
        #expect(try await status(simulation, client, "\(header).\(parts[1]).\(parts[2])") == .badRequest)
        #expect(try await status(simulation, client, parts.joined(separator: ".")) == .ok)
    }

    @Test func `Clients of a file are known from the start, and those added by the control API are kept`()
        async throws
    {
        let path = "/tmp/vestibule-simulator-\(Hex.encode(SecureRandom.bytes(8)))"
        defer { for name in ["state", "clients"] { _ = try? StateFile(path: "\(path)-\(name)").remove() } }
        let (fileClient, later) = (try AppleClient(), try AppleClient("com.example.later"))
        let clients: JSONObject = ["apple": [.object(try fileClient.registration)]]
        try StateFile(path: "\(path)-clients").write(clients.serialized())
        let registry = try ClientsFile.read("\(path)-clients")
        let state = StateFile(path: "\(path)-state")

        let first = try Simulation(file: state, clients: registry)
        let forged = try AppleClient()
        #expect(try await status(first, forged, forged.secret()) == .badRequest)
        #expect(try await status(first, fileClient, fileClient.secret()) == .ok)
        _ = try await first.send(.post, "/control/apple/clients", later.registration.text)
        let second = try Simulation(file: state)
        let forgedLater = try AppleClient("com.example.later")
        #expect(try await status(second, forgedLater, forgedLater.secret()) == .badRequest)
        #expect(try await status(second, later, later.secret()) == .ok)
        // The clients of the file are only stored there.
        #expect(try await status(second, forged, forged.secret()) == .ok)
    }

    @Test(arguments: [
        ("no JSON", "is not a JSON object"), (#"{"apple":[{"client_id":"a"}]}"#, "apple[0].team_id"),
        (#"{"google":7}"#, "google: This field must be an array."),
    ])
    func `An invalid clients file is reported in one line`(text: String, expected: String) throws {
        let path = "/tmp/vestibule-simulator-\(Hex.encode(SecureRandom.bytes(8)))"
        let file = StateFile(path: path)
        try file.write(Array(text.utf8))
        defer { _ = try? file.remove() }
        let fault = #expect(throws: ClientsFile.ReadError.self) { try ClientsFile.read(path) }
        #expect(fault?.description.contains(expected) == true, "\(fault?.description ?? "none")")
        #expect(fault?.description.contains("\n") == false)
    }

    @Test func `The number of clients is limited`() throws {
        var registry = ClientRegistry()
        let areKept = (0..<ClientRegistry.clientsMax).map { registry.register(client($0)) }
        #expect(areKept.allSatisfy { $0 })
        let (isStrangerKept, isReplaced) = (registry.register(client(-1)), registry.register(client(0)))
        #expect(!isStrangerKept && isReplaced)
        #expect(registry.clients.count == ClientRegistry.clientsMax)
    }

    private func client(_ number: Int) -> RegisteredClient {
        var input = JSONInput(["client_id": .string("client\(number)"), "client_secret": "s"])
        guard let client = RegisteredClient(&input, provider: .google) else { preconditionFailure("a good client") }
        return client
    }
}

extension StateFile {
    /// Removes the file.
    func remove() throws {
        guard unlink(path) == 0 else { throw AccessError("remove", path, errno: errno) }
    }
}
