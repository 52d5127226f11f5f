import JOSE
import OutgoingHTTP
import RPCTransport
import ScriptedHTTP
import Testing

@testable import IdentityService

struct HTTPKeyFetcherTests {
    @Test func `Fetches good answers and refuses the others`() async throws {
        let keys = KeySet([try SigningKey.generateRSA2048(keyID: "one")]).json.text
        let server = try ScriptedHTTPServer([
            "/good": ScriptedHTTPServer.answer("200 OK", "cache-control: public, max-age=1234\r\n", body: keys),
            "/plain": ScriptedHTTPServer.answer(body: keys),
            "/down": ScriptedHTTPServer.answer("503 Service Unavailable", body: keys),
            "/moved": ScriptedHTTPServer.answer("302 Found", "location: /good\r\n", body: ""),
            "/page": ScriptedHTTPServer.answer(body: "<html>"),
            "/long": ScriptedHTTPServer.answer(
                body: String(repeating: " ", count: HTTPKeyFetcher.bodyBytesMax + 1) + keys
            ),
        ])
        defer { server.stop() }
        let group = try EventLoopGroup(loopCount: 1, name: "outgoing")
        let http = HTTPSClient(userAgent: "test", group: group)
        let fetcher = HTTPKeyFetcher(http)
        let base = "http://127.0.0.1:\(server.port)"
        let good = try await fetcher.fetchKeys(from: base + "/good")
        #expect(good.keySet.entries.map(\.keyID) == ["one"])
        #expect(good.maxAgeSeconds == 1_234)
        #expect(try await fetcher.fetchKeys(from: base + "/plain").maxAgeSeconds == nil)
        await #expect(throws: KeyFetchError.status(503)) { try await fetcher.fetchKeys(from: base + "/down") }
        await #expect(throws: KeyFetchError.status(302)) { try await fetcher.fetchKeys(from: base + "/moved") }
        await #expect(throws: KeyFetchError.self) { try await fetcher.fetchKeys(from: base + "/page") }
        await #expect(throws: (any Error).self) { try await fetcher.fetchKeys(from: base + "/long") }
        await #expect(throws: (any Error).self) { try await fetcher.fetchKeys(from: "http://127.0.0.1:1/closed") }
        #expect(server.requestLines.filter { $0.contains("/good") }.count == 1, "no redirect was followed")
        await group.shutdown()
    }

    /// Without a timeout of its own the fetch would wait as long as the provider keeps the connection.
    @Test(.timeLimit(.minutes(5))) func `A silent provider times out`() async throws {
        let server = try ScriptedHTTPServer([:])
        defer { server.stop() }
        let group = try EventLoopGroup(loopCount: 1, name: "outgoing")
        let http = HTTPSClient(userAgent: "test", group: group)
        let fetcher = HTTPKeyFetcher(http, timeout: .milliseconds(200))
        await #expect(throws: (any Error).self) {
            try await fetcher.fetchKeys(from: "http://127.0.0.1:\(server.port)/silent")
        }
        await group.shutdown()
    }
}
