import Glibc
import HTTP
import HTTPTypes
import RPC
import Synchronization
import TestWaits
import Testing

@testable import RPCTransport

/// Errors, limits and ends of exchanges, over our own sockets.
@Suite(.timeLimit(.minutes(5)))
struct ExchangeEndTests {
    private static let get = "GET /fixed HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `Malformed HTTP is reported to the handler, which answers it`() async throws {
        try await withEdge(.http1) { (edge) async throws -> Void in
            for (text, fault) in [
                ("\u{16}\u{3}\u{1}\u{2}", "REQUEST_MALFORMED"),
                ("GET / HTTP/1.1\r\n\r\n", "HOST_COUNT"),
                ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", "CONTENT_LENGTH_INVALID"),
                ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "TRANSFER_ENCODING_UNKNOWN"),
            ] {
                let client = try TextClient(port: edge.port)
                try client.send(text)
                let answer = try client.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 400 "))
                #expect(answer.hasSuffix("\r\n\r\n" + fault))
            }
        }
    }

    @Test func `A body that is cut short or slow is reported to the handler`() async throws {
        var configuration = ServerConfiguration()
        configuration.limits.bodyTimeout = .milliseconds(200)
        try await withEdge(.http1, configuration: configuration) { (edge) async throws -> Void in
            let slow = try TextClient(port: edge.port)
            try slow.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
            #expect(try slow.readToEnd().hasSuffix("\r\n\r\ntimeout\n"))
            let broken = try TextClient(port: edge.port)
            try broken.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n")
            #expect(try broken.readToEnd().hasSuffix("\r\n\r\nmalformed\n"))
            do {
                let gone = try TextClient(port: edge.port)
                try gone.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
                try await eventually { edge.handler.record.withLock { $0.heads.count } == 3 }
            }
            try await eventually { edge.handler.record.withLock { $0.running } == 0 }
            #expect(edge.handler.record.withLock { $0.endings.prefix(2) } == [.timeout, .malformed])
        }
    }

    @Test func `A client that makes the server hold too much gets an error`() async throws {
        var configuration = ServerConfiguration()
        configuration.limits.bufferedBytesMax = 100_000
        try await withEdge(.http1, configuration: configuration) { (edge) async throws -> Void in
            let client = try TextClient(port: edge.port)
            try client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n")
            for _ in 0..<13 { try client.send([UInt8](repeating: 0, count: 10_000)) }
            #expect(try client.readAnswer()?.head.hasPrefix("HTTP/1.1 413 ") == true)
        }
    }

    @Test func `A writer waits for a client that reads slowly, and ends with it`() async throws {
        try await withEdge(.http1) { (edge) async throws -> Void in
            do {
                let client = try TextClient(port: edge.port)
                try client.send("GET /stream?100000x65536 HTTP/1.1\r\nHost: a\r\n\r\n")
                try await eventually { edge.loop.statistics.heldBytes > 0 }
                try await Task.sleep(for: .milliseconds(100))
                // As much as a stream's queue holds, and not all that the handler would write.
                #expect(edge.loop.statistics.heldBytes < 1 << 20)
            }
            try await eventually { edge.handler.record.withLock { $0.writersEnded == 1 && $0.running == 0 } }
        }
    }

    @Test func `Pipelined requests are answered in order`() async throws {
        try await withEdge(.http1) { (edge) async throws -> Void in
            let client = try TextClient(port: edge.port)
            let later = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
            try client.send(later + Self.get + later + Self.get)
            for body in ["later\n", "hello\n", "later\n", "hello\n"] { #expect(try client.readAnswer()?.body == body) }
        }
    }

    @Test func `Pipelined requests by TLS are read as there is room`() async throws {
        try await withEdge(.tls1) { (edge) async throws -> Void in
            let (fixed, later) = ("GET /fixed HTTP/1.1\r\nHost: a\r\n\r\n", "GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
            var text = ""
            for index in 0..<3000 { text += index % 50 == 0 ? later : fixed }
            text += "GET /fixed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let answer = try await edge.exchangeByTLS(text)
            #expect(answer.body.split(separator: "\r\n\r\nlater\n").count == 61)
            #expect(answer.body.split(separator: "\r\n\r\nhello\n").count == 2941)
            #expect(answer.body.hasSuffix("\r\n\r\nhello\n"))
        }
    }

    /// The progress of the clients of a drain.
    private final class Progress: Sendable {
        let hasMoved = Mutex(false)
        let answered = Mutex(0)
    }

    /// Requests in sequence on as few connections as possible, two hundred of them after the drain.
    private static func ask(old: Int, next: Int, _ progress: Progress) throws {
        var client = try TextClient(port: old)
        var rest = 200
        while rest > 0 {
            if progress.hasMoved.withLock({ $0 }) { rest -= 1 }
            try client.send(get)
            guard let answer = try client.readAnswer() else {
                throw TextClient.Failed(description: "a request was lost")
            }
            guard answer.body == "hello\n" else { throw TextClient.Failed(description: "another answer: \(answer)") }
            progress.answered.withLock { $0 += 1 }
            if answer.head.lowercased().contains("connection: close") { client = try TextClient(port: next) }
        }
    }

    @Test func `A drain loses no request`() async throws {
        try await withEdge(.http1) { (old) async throws -> Void in
            try await withEdge(.http1) { (next) async throws -> Void in
                let progress = Progress()
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for _ in 0..<4 {
                        tasks.addTask {
                            try await onThread {
                                try Self.ask(old: old.port, next: next.port, progress)
                            }
                        }
                    }
                    while progress.answered.withLock({ $0 }) < 400 { try await Task.sleep(for: .milliseconds(1)) }
                    await old.server.drain()
                    progress.hasMoved.withLock { $0 = true }
                    try await tasks.waitForAll()
                }
                #expect(old.loop.statistics.serverConnections.current == 0)
                #expect(next.handler.record.withLock { $0.heads.count } >= 4 * 200)
            }
        }
    }

    @Test(arguments: [ExchangeTests.Way.http1, .http2]) func `Exchanges end with the server and its loops`(
        _ way: ExchangeTests.Way
    ) async throws {
        for endsLoops in [false, true] {
            try await withEdge(way) { (edge) async throws -> Void in
                let curl = Task { try await edge.curl(["/hold"]) }
                try await eventually { edge.handler.record.withLock { $0.running } == 1 }
                if endsLoops { await edge.group.shutdown() } else { await edge.server.shutdown() }
                let status = try await curl.value.status
                #expect(status != 0)
                try await eventually { edge.handler.record.withLock { $0.cancellations == 1 && $0.running == 0 } }
            }
        }
    }

    @Test func `The client address behind a proxy is the one from the proxy`() async throws {
        var configuration = ServerConfiguration()
        configuration.acceptsProxyProtocol = [try #require(ProxyNetwork("127.0.0.0/8"))]
        try await withEdge(.http1, configuration: configuration) { (edge) async throws -> Void in
            let client = try TextClient(port: edge.port)
            let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
            try client.send(signature + [0x21, 0x11, 0, 12, 192, 0, 2, 7, 192, 0, 2, 1, 0x12, 0x34, 0, 80])
            try client.send(Self.get)
            #expect(try client.readAnswer()?.body == "hello\n")
            #expect(edge.handler.record.withLock { $0.peers } == ["192.0.2.7:4660"])
            let silent = try TextClient(port: edge.port)
            try silent.send(Self.get)
            let text = (try? silent.readToEnd()) ?? ""  // it may be reset
            #expect(text.isEmpty)
        }
    }

    @Test func `Networks of proxies are parsed strictly`() {
        for good in ["10.0.0.0/8", "192.0.2.7", "::1", "2001:db8::/32", "0.0.0.0/0"] {
            #expect(ProxyNetwork(good)?.description == good)
        }
        for bad in ["", "10.0.0.1/8", "10.0.0.0/33", "example.com", "10.0.0.0/"] { #expect(ProxyNetwork(bad) == nil) }
    }
}
