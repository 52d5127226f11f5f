import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import OutgoingHTTP
import Synchronization
import Testing

@testable import ProviderSimulator

/// What the simulator tells backends of its people.
struct NoticeTests {
    /// Keeps what is sent.
    private final class Receiver: OutgoingClient {
        let requests = Mutex<[OutgoingRequest]>([])

        func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse {
            requests.withLock { $0.append(request) }
            return OutgoingResponse(status: 202, body: [])
        }
    }

    private func claims(_ token: String, _ provider: String, _ simulation: Simulation) async throws -> JSONObject {
        try await simulation.verifiedClaims(token, provider)
    }

    @Test func `Apple's event is a text that is JSON once more`() async throws {
        let simulation = try Simulation()
        let (_, answer) = try await simulation.send(
            .post,
            "/control/apple/notify",
            #"{"client_id":"c","type":"email-disabled","sub":"001.a","email":"x@privaterelay.appleid.com"}"#
        )
        let token = try #require(answer["notice"]?.string)
        let told = try await claims(token, "apple", simulation)
        #expect(told["iss"] == "https://appleid.apple.com" && told["aud"] == "c" && told["jti"] == answer["jti"])
        #expect(told["exp"] == .integer(Simulation.nowSeconds + 86_400))
        let event = try JSONObject(parsing: try #require(told["events"]?.string).utf8)
        #expect(
            event == [
                "type": "email-disabled", "sub": "001.a", "event_time": .integer(Simulation.nowSeconds * 1000),
                "email": "x@privaterelay.appleid.com", "is_private_email": "true",
            ]
        )
        #expect(try CompactJWS(parsing: token).type == nil && answer["statuses"] == [])
    }

    @Test func `Google's is a security event token`() async throws {
        let simulation = try Simulation()
        let (_, answer) = try await simulation.send(
            .post,
            "/control/google/risc",
            #"{"client_id":"c","type":"account-disabled","reason":"hijacking","sub":"77","jti":"j"}"#
        )
        let token = try #require(answer["notice"]?.string)
        #expect(try CompactJWS(parsing: token).type == "secevent+jwt")
        let told = try await claims(token, "google", simulation)
        #expect(told["exp"] == nil && told["jti"] == "j" && told["iss"] == "https://accounts.google.com/")
        let event = told["events"]?.object?["https://schemas.openid.net/secevent/risc/event-type/account-disabled"]
        #expect(event?.object?["reason"] == "hijacking")
        #expect(event?.object?["subject"]?.object?["sub"] == "77")
    }

    @Test func `A message is sent as often as it is ordered, the same each time`() async throws {
        let simulation = try Simulation()
        let receiver = Receiver()
        let client = HandlerClient(
            Simulator.handler(simulation.store, http: receiver, logger: Logger(label: "test"))
        )
        let order = #"{"client_id":"c","type":"verification","state":"s","times":3,"to":"http://127.0.0.1:9/risc"}"#
        let answer = try await client.send(
            .post,
            "/control/google/risc",
            headers: [.contentType: "application/json"],
            body: Array(order.utf8)
        )
        let body = try JSONObject(parsing: answer.body)
        #expect(body["statuses"] == [202, 202, 202])
        let sent = receiver.requests.withLock { $0 }
        #expect(sent.count == 3 && sent.allSatisfy { $0.url == "http://127.0.0.1:9/risc" })
        for request in sent {
            guard case .other("POST", let bytes?, "application/secevent+jwt") = request.method else {
                Issue.record("another method")
                continue
            }
            #expect(String(decoding: bytes, as: UTF8.self) == body["notice"]?.string)
        }
    }

    @Test(arguments: ["apple/notify", "google/risc"])
    func `Forged ones can be ordered`(path: String) async throws {
        let simulation = try Simulation()
        let provider = String(path.prefix { $0 != "/" })
        for (key, isPublished) in [("foreign", true), ("unknown", false)] {
            let (_, answer) = try await simulation.send(
                .post,
                "/control/\(path)",
                #"{"client_id":"c","type":"consent-revoked","sub":"a","overrides":{"signing_key":"\#(key)"}}"#
            )
            let jws = try CompactJWS(parsing: try #require(answer["notice"]?.string))
            let published = try await simulation.keys(provider).key(id: try #require(jws.keyID), algorithm: .rs256)
            #expect((published != nil) == isPublished)
            if let published { #expect(throws: JWSError.badSignature) { try jws.verifiedPayload(with: published) } }
        }
    }

    @Test(arguments: [
        "{}", #"{"client_id":"c"}"#, #"{"client_id":"c","type":"t","times":17}"#,
        #"{"client_id":"c","type":"t","to":"file:///etc/passwd"}"#,
    ])
    func `An order that can't be is refused`(order: String) async throws {
        let (answer, _) = try await Simulation().send(.post, "/control/apple/notify", order)
        #expect(answer.status.code == 400)
    }
}
