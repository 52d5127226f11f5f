import FoundationEssentials
import HTTP
import HTTPTypes
import RPC
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing

@testable import RPCTransport

/// Requests that are no gRPC calls, as curl makes them, over both protocols, in clear text and by TLS.
@Suite(.timeLimit(.minutes(5)))
struct ExchangeTests {
    /// How curl connects.
    enum Way: CaseIterable { case http1, http2, tls1, tls2 }

    @Test(arguments: Way.allCases) func `A request is answered, at once or later`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            #expect(try await edge.curl(["/fixed"]).body == "hello\n")
            #expect(try await edge.curl(["/later"]).body == "later\n")
            let answer = try await edge.curl(["-i", "/later?a=b"]).body.lowercased()
            #expect(answer.contains("content-length: 6\r\n"))
            #expect(answer.contains("\r\ndate: "))
            #expect(answer.contains("\r\ncontent-type: text/plain\r\n"))
        }
    }

    @Test(arguments: Way.allCases) func `A handler sees the head`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            let text = try await edge.curl(["-X", "PATCH", "-H", "X-One: 1", "-H", "x-one: two", "/head?q=%20"]).body
            let version = way == .http1 || way == .tls1 ? "http11" : "http2"
            #expect(text.hasPrefix("\(version) PATCH /head?q=%20 127.0.0.1:\(edge.port)\n"))
            #expect(text.contains("x-one: 1\nx-one: two\n"))
            #expect(text.contains("user-agent: curl"))
            let head = try #require(edge.handler.record.withLock { $0.heads.first })
            #expect(head.path == "/head")
            #expect(head.query == "q=%20")
            #expect(!head.hasBody)
            #expect(edge.handler.record.withLock { $0.peers.first?.hasPrefix("127.0.0.1:") } == true)
        }
    }

    @Test(arguments: Way.allCases) func `Bodies go both ways`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            let file = FileManager.default.temporaryDirectory.path + "/vestibule-body-\(UUID().uuidString)"
            _ = FileManager.default.createFile(atPath: file, contents: Data(bytes))
            defer { try? FileManager.default.removeItem(atPath: file) }
            for path in ["/echo", "/slow-echo"] {
                let answer = try await edge.curl(["--data-binary", "@\(file)", "-H", "Expect: 100-continue", path])
                #expect(answer.bytes == bytes && answer.status == 0)
                let chunked = try await edge.curl([
                    "-H", "Transfer-Encoding: chunked", "--data-binary", "@\(file)", path,
                ])
                #expect(chunked.bytes == bytes && chunked.status == 0)
            }
            #expect(edge.handler.record.withLock { $0.endings } == [nil, nil, nil, nil])
            let stream = try await edge.curl(["/stream?40x65536"])
            #expect(stream.bytes.count == 40 * 65_536 && stream.status == 0)
            #expect(stream.bytes.last == UInt8(97 + 39 % 26))
        }
    }

    @Test(arguments: Way.allCases) func `Answers without a body have none`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            let head = try await edge.curl(["-I", "/fixed"]).body.lowercased()
            #expect(head.contains("content-length: 6\r\n"))
            #expect(head.hasSuffix("\r\n\r\n"))
            let empty = try await edge.curl(["-i", "/empty"]).body.lowercased()
            #expect(empty.contains(" 204"))
            #expect(!empty.contains("content-length"))
            #expect(try await edge.curl(["-o", "/dev/null", "-w", "%{http_code}", "/unsendable"]).body == "500")
        }
    }

    @Test(arguments: Way.allCases) func `A handler that forgets to answer ends the exchange`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            let answer = try await edge.curl(["/forgotten"])
            #expect([52, 56, 92].contains(answer.status))  // empty reply, recv failure, HTTP/2 stream error
            #expect(try await edge.curl(["/fixed"]).body == "hello\n")
        }
    }

    @Test(arguments: Way.allCases) func `A client that goes away cancels the handler`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            let answer = try await edge.curl(["--max-time", "0.3", "/hold"])
            #expect(answer.status == 28)
            try await eventually { edge.handler.record.withLock { $0.cancellations == 1 && $0.running == 0 } }
        }
    }

    @Test(arguments: Way.allCases) func `A handler answers at its deadline`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            #expect(try await edge.curl(["/deadline"]).body == "too late\n")
            try await eventually { edge.handler.record.withLock { $0.cancellations == 1 && $0.running == 0 } }
        }
    }

    @Test(arguments: Way.allCases) func `Calls of gRPC are served on the same port`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            let group = try EventLoopGroup(loopCount: 1, name: "client")
            var configuration = ChannelConfiguration()
            if let file = edge.authorityFile { configuration.tls = TLSConfiguration(authoritiesFile: file) }
            let channel = try RPCChannel(target: "127.0.0.1:\(edge.port)", group: group, configuration: configuration)
            let request = EchoService.Bytes.with { $0.value = .init([1, 2, 3]) }
            let answer = try await channel.unary(
                EchoService.echo,
                request,
                response: EchoService.Bytes.self,
                options: .init()
            )
            #expect(Array(answer.value) == [1, 2, 3])
            #expect(try await edge.curl(["/fixed"]).body == "hello\n")
            let unknown = MethodDescriptor(service: "no.Such", method: "Method")
            let error = await #expect(throws: RPCError.self) {
                try await channel.unary(unknown, request, response: EchoService.Bytes.self, options: .init())
            }
            #expect(error?.code == .unimplemented)
            await channel.close()
            await group.shutdown()
        }
    }

    @Test func `A client of TLS that agrees on nothing speaks HTTP 1_1`() async throws {
        try await withEdge(.tls1) { (edge) async throws -> Void in
            #expect(try await edge.curl(["--no-alpn", "/fixed"]).body == "hello\n")
        }
        try await withEdge(.tls1, takesExchanges: false) { (edge) async throws -> Void in
            for more in [[], ["--no-alpn"]] { #expect(try await edge.curl(more + ["/fixed"]).status != 0) }
        }
    }

    @Test func `A port without a handler answers other requests as before`() async throws {
        try await withEdge(.http2, takesExchanges: false) { (edge) async throws -> Void in
            #expect(try await edge.curl(["-o", "/dev/null", "-w", "%{http_code}", "/fixed"]).body == "404")
        }
        try await withEdge(.http1, takesExchanges: false) { (edge) async throws -> Void in
            #expect(try await edge.curl(["/fixed"]).status != 0)
        }
    }

    @Test(arguments: [Way.http1, .http2]) func `A name that is not the server's is refused`(_ way: Way) async throws {
        var configuration = ServerConfiguration()
        configuration.serverNames = ["api.example.com"]
        try await withEdge(way, configuration: configuration) { (edge) async throws -> Void in
            func status(_ host: String) async throws -> String {
                try await edge.curl(["-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)", "/fixed"]).body
            }
            #expect(try await status("evil.example") == "421")
            #expect(try await status("API.example.com:443") == "200")
            #expect(try await status("127.0.0.1") == "200")
            #expect(edge.handler.record.withLock { $0.heads.count } == 2)
        }
    }

    @Test(arguments: Way.allCases) func `Exchanges release what they held`(_ way: Way) async throws {
        try await withEdge(way) { (edge) async throws -> Void in
            for _ in 0..<3 { _ = try await edge.curl(["-d", "body", "/echo", "/later", "/stream?3x9000"]) }
            try await eventually {
                let statistics = edge.loop.statistics
                return statistics.handlers == 0 && statistics.heldBytes == 0
                    && statistics.serverStreams.current == 0
            }
        }
    }
}
