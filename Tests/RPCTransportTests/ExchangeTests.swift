import FoundationEssentials
import HTTP
import RPC
import Testing

@testable import RPCTransport

/// Requests that are no gRPC calls, as curl makes them, over both protocols and in both clear text and TLS.
@Suite(.timeLimit(.minutes(2)))
struct ExchangeTests {
    /// How curl connects.
    enum Way: CaseIterable { case http1, http2, tls1, tls2 }

    @Test(arguments: Way.allCases) func `A request is answered`(_ way: Way) async throws {
        try await withEdge(way) { edge in
            #expect(try edge.curl(["/fixed"]).body == "hello\n")
            #expect(try edge.curl(["/later"]).body == "later\n")
            let answer = try edge.curl(["-i", "/later?a=b"])
            #expect(answer.body.lowercased().contains("content-length: 6\r\n"))
            #expect(answer.body.lowercased().contains("\r\ndate: "))
        }
    }
}
