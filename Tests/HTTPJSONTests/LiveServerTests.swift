import HTTPClients
import HTTPTypes
import JOSE
import Logging
import RPCTransport
import Synchronization
import Testing

@testable import HTTPJSON

/// Behavior that needs a real socket: limits on connections, late bodies, and the graceful stop.
struct LiveServerTests {
    private static func handler(_ limits: HTTPLimits) -> RouteHandler {
        let routes = [
            Route(.post, "/echo") { request, context in
                var input = try await context.json(request)
                let text = input.string("text")
                try input.finish()
                return .json(["text": .string(text)])
            },
            Route(.get, "/slow") { _, _ in
                try await Task.sleep(for: .milliseconds(300))
                return .json(["done": true])
            },
        ]
        return RouteHandler(routes: routes, configuration: .init(limits: limits), logger: quiet)
    }

    private static var quiet: Logger {
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        return quiet
    }

    /// Runs a server until `stop` returns.
    private static func serve(
        _ limits: HTTPLimits,
        until stop: @escaping @Sendable () async -> Void,
        onListening: @escaping @Sendable (Int) async -> Void
    ) async throws {
        try await withEventLoopGroup(loopCount: 1, name: "test") { group in
            let server = HTTPServer(
                handler(limits),
                configuration: .init(host: "127.0.0.1", port: 0, limits: limits, drainLimit: .seconds(30)),
                group: group,
                logger: quiet
            )
            try await server.run(stop: stop, onListening: onListening)
        }
    }

    /// Runs a server while `body` talks to its port, and then stops it.
    private static func run(
        _ limits: HTTPLimits,
        _ body: @escaping @Sendable (SocketClient) async throws -> Void
    ) async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        let talk = Mutex<Task<Void, any Error>?>(nil)
        try await serve(limits, until: { for await _ in stopped {} }) { port in
            let task = Task {
                defer { stop.finish() }
                try await body(SocketClient(port: port))
            }
            talk.withLock { $0 = task }
        }
        try await #require(talk.withLock { $0 }).value
    }

    @Test func `A connection ends by its age, after the answer of a request that has come`() async throws {
        var limits = HTTPLimits(idleTimeout: .seconds(20))
        limits.connectionAgeMax = .milliseconds(200)
        try await Self.run(limits) { client in
            let start = ContinuousClock.now
            let answer = try await client.exchange(["GET /slow HTTP/1.1\r\nhost: a\r\n\r\n"])
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("{\"done\":true}"), "\(answer)")
            #expect(ContinuousClock.now - start < .seconds(10), "it would be kept for 20 seconds without a request")
        }
    }

    @Test func `A body that stops coming ends the request`() async throws {
        try await Self.run(HTTPLimits(requestTimeout: .milliseconds(200))) { client in
            let head = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n"
            let answer = try await client.exchange([head, "{\"te"])
            #expect(answer.hasPrefix("HTTP/1.1 408 "))
            #expect(answer.contains("REQUEST_TIMEOUT"))
            #expect(answer.lowercased().contains("connection: close"))
        }
    }

    @Test func `A chunked body cannot outgrow the limit`() async throws {
        try await Self.run(HTTPLimits(requestTimeout: .seconds(60), bodyBytesMax: 100)) { client in
            let head =
                "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
            let chunk = "40\r\n" + String(repeating: " ", count: 64) + "\r\n"
            let answer = try await client.exchange([head, chunk, chunk])
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.contains("BODY_TOO_LARGE"))
        }
    }

    /// Malformed bytes from strangers must not look like server errors, which raise alerts.
    @Test(arguments: [
        ("content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", 400, "BODY_MALFORMED"),
        ("content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}x", 400, "BODY_MALFORMED"),
        ("transfer-encoding: xchunked\r\n\r\n", 400, "TRANSFER_ENCODING_INVALID"),
        ("transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "TRANSFER_ENCODING_UNKNOWN"),
        ("host: b\r\n\r\n", 400, "HOST_COUNT"), ("host : b\r\n\r\n", 400, "REQUEST_MALFORMED"),
        ("x-long: \(String(repeating: "a", count: 20_000))\r\n\r\n", 431, "HEADERS_TOO_LARGE"),
    ])
    func `Malformed HTTP is the client's error`(rest: String, status: Int, code: String) async throws {
        try await Self.run(HTTPLimits(requestTimeout: .seconds(60))) { client in
            // The bytes after it must not be read as a second request.
            let second = "GET /slow HTTP/1.1\r\nhost: a\r\n\r\n"
            let answer = try await client.exchange(["POST /echo HTTP/1.1\r\nhost: a\r\n" + rest, second])
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.contains(code))
            #expect(answer.lowercased().contains("content-type: application/problem+json"))
            #expect(answer.lowercased().contains("x-request-id: "))
            #expect(answer.lowercased().split(separator: "x-request-id: ").count == 2, "one answer")
        }
    }

    @Test func `An endless body that is not read is cut off`() async throws {
        try await Self.run(HTTPLimits(requestTimeout: .seconds(60))) { client in
            let head = "POST /nowhere HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
            let answer = try await client.exchange([head, "1\r\n \r\n"])
            #expect(answer.hasPrefix("HTTP/1.1 404 "))
            #expect(answer.lowercased().contains("connection: close"))
        }
    }

    @Test func `Too many header bytes are refused`() async throws {
        try await Self.run(HTTPLimits(headerBytesMax: 1024)) { client in
            let long = String(repeating: "a", count: 2000)
            let answer = try await client.exchange(["GET /slow HTTP/1.1\r\nhost: a\r\nx-long: \(long)\r\n\r\n"])
            #expect(answer.hasPrefix("HTTP/1.1 400 ") || answer.hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test func `A silent connection is closed`() async throws {
        try await Self.run(HTTPLimits(idleTimeout: .milliseconds(200))) { client in
            #expect(try await client.exchange([]).isEmpty)
            let late = try await client.exchange(["GET /slow HTT"])
            #expect(late.hasPrefix("HTTP/1.1 408 ") && late.contains("HEAD_TIMEOUT"))
            #expect(late.lowercased().contains("connection: close"))
        }
    }

    @Test func `Several requests share a connection`() async throws {
        try await Self.run(HTTPLimits(requestTimeout: .seconds(60))) { client in
            let body = #"{"text":"a"}"#
            let request = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 12\r\n"
            let answer = try await client.exchange(
                [request + "\r\n" + body, request + "connection: close\r\n\r\n" + body]
            )
            #expect(answer.split(separator: "HTTP/1.1 200 ").count == 2)
        }
    }

    @Test func `A stop lets requests finish`() async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        let answer = Mutex<Task<String, any Error>?>(nil)
        try await Self.serve(
            HTTPLimits(requestTimeout: .seconds(60)),
            until: {
                for await _ in stopped {}
                // By now the request has arrived; its answer takes longer than this.
                try? await Task.sleep(for: .milliseconds(150))
            },
            onListening: { port in
                let request = Task {
                    stop.finish()
                    let request = "GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
                    return try await SocketClient(port: port).exchange([request])
                }
                answer.withLock { $0 = request }
            }
        )
        let text = try await #require(answer.withLock { $0 }).value
        #expect(text.hasPrefix("HTTP/1.1 200 "))
        #expect(text.contains(#"{"done":true}"#))
    }
}

/// The address that a server listens on.
struct ListenAddressTests {
    @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("0.0.0.0", "0.0.0.0")])
    func `An address in digits stays`(host: String, digits: String) async throws {
        #expect(try await HTTPServer.Configuration(host: host, port: 80).inDigits().host == digits)
    }

    @Test func `A name becomes an address`() async throws {
        let host = try await HTTPServer.Configuration(host: "localhost", port: 80).inDigits().host
        #expect(host == "127.0.0.1" || host == "::1")
    }

    @Test func `A name without an address is an error`() async throws {
        let error = await #expect(throws: HTTPListenError.self) {
            try await HTTPServer.Configuration(host: "nowhere.invalid", port: 80).inDigits()
        }
        #expect(error?.description == "cannot listen on nowhere.invalid:80: no such host")
    }
}
