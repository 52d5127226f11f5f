import IdentityDomain
import JOSE
import OutgoingHTTP
import RPCTransport
import ScriptedHTTP
import Synchronization
import Testing

@testable import IdentityService

/// Token endpoints that misbehave, by real sockets.
struct ExchangeOverHTTPTests {
    private static let answers: [(name: String, answer: ScriptedHTTPServer.Answer, outcome: String)] = [
        ("503", .bytes(ScriptedHTTPServer.answer("503 Service Unavailable", body: "")), "unavailable"),
        ("429", .bytes(ScriptedHTTPServer.answer("429 Too Many Requests", body: "")), "unavailable"),
        ("garbage", .bytes(ScriptedHTTPServer.answer(body: "<html>")), "unreadable"),
        ("no token", .bytes(ScriptedHTTPServer.answer(body: #"{"access_token":"a"}"#)), "unreadable"),
        (
            "huge",
            .bytes(ScriptedHTTPServer.answer(body: String(repeating: " ", count: TokenEndpointAnswer.bytesMax + 1))),
            "unreadable"
        ),
        (
            "redirect", .bytes(ScriptedHTTPServer.answer("307 Temporary Redirect", "location: /other\r\n", body: "")),
            "unreadable"
        ),
        ("no HTTP", .bytes("nothing of the sort\r\n\r\n"), "unanswered"),
        ("hang-up", .hangUp, "unanswered"),
        ("silence", .silence, "unanswered"),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: answers.indices)
    func `A provider that fails is unavailable, and the code usable when it is well again`(index: Int) async throws {
        let (name, answer, outcome) = Self.answers[index]
        let current = Mutex(answer)
        let server = try ScriptedHTTPServer { _ in current.withLock { $0 } }
        defer { server.stop() }
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            let client = HTTPSClient(userAgent: "test", group: group)
            try await ExchangeBench.run(baseURL: server.base, client: client) { bench in
                await #expect(throws: IdentityError.providerUnavailable, "\(name)") {
                    try await bench.exchange("c0de")
                }
                #expect(bench.count("apple", "code", outcome) == "1", "\(name)")
                let good = ScriptedHTTPServer.answer(body: try bench.answer())
                current.withLock { $0 = .bytes(good) }
                #expect(try await bench.exchange("c0de").claims.subject == "001.person")
                #expect(server.requests.map(\.path) == ["/apple/token", "/apple/token"])
                #expect(server.requests.last?.fields["code"] == "c0de")
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `If the connection is refused the provider wasn't asked`() async throws {
        try await withEventLoopGroup(loopCount: 1, name: "outgoing") { group in
            let client = HTTPSClient(userAgent: "test", group: group)
            try await ExchangeBench.run(baseURL: "http://127.0.0.1:1", client: client) { bench in
                await #expect(throws: IdentityError.providerUnavailable) { try await bench.exchange("c0de") }
                #expect(bench.count("apple", "code", "unreachable") == "1")
                let count = try await bench.codeCount()
                #expect(count == 0)
            }
        }
    }
}
