import Glibc
import RPCTransport
import ScriptedHTTP
import TestWaits
import Testing

@testable import OutgoingHTTP

struct HTTPSClientTests {
    @Test func `A form is posted with everything that could end a value encoded`() async throws {
        let server = try ScriptedHTTPServer(["/token": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        try await Self.withClient { client in
            let request = Self.request(
                .postForm([("grant_type", "authorization_code"), ("code", "a&b=c d+e%\r\né/~")]),
                server.base + "/token"
            )
            let response = try await client.send(request)
            #expect(response.status == 200)
            #expect(response.body == Array("yes".utf8))
        }
        let request = try #require(server.requests.first)
        #expect(request.line == "POST /token HTTP/1.1")
        #expect(request.headers.contains("content-type: application/x-www-form-urlencoded"))
        #expect(request.headers.contains("user-agent: test"))
        #expect(
            request.body == "grant_type=authorization_code&code=a%26b%3Dc%20d%2Be%25%0D%0A%C3%A9%2F~"
        )
        #expect(request.fields["code"] == "a&b=c d+e%\r\né/~")
    }

    @Test func `A query is added to the URL's own`() async throws {
        let server = try ScriptedHTTPServer(["/me": ScriptedHTTPServer.answer("404 Not Found", "x-A: b\r\n", body: "")])
        defer { server.stop() }
        try await Self.withClient { client in
            let query = [(name: "access_token", value: "1|2")]
            let first = Self.request(.get(query: query), server.base + "/me")
            let response = try await client.send(first)
            #expect(response.status == 404, "an answer of any status is an answer")
            #expect(response.header("x-a") == "b")
            #expect(response.header("x-b").isEmpty)
            _ = try await client.send(Self.request(.get(query: query), server.base + "/me?v=1"))
        }
        #expect(server.requests.map(\.target) == ["/me?access_token=1%7C2", "/me?v=1&access_token=1%7C2"])
    }

    @Test func `A printed request has no query`() {
        let request = Self.request(.get(query: [("access_token", "secret")]), "https://example.com/me?key=secret")
        #expect("\(request)" == "GET https://example.com/me")
    }

    @Test func `A refused connection is distinguished from a lost answer`() async throws {
        let server = try ScriptedHTTPServer { request in
            request.path == "/hang-up" ? .hangUp : .silence
        }
        defer { server.stop() }
        try await Self.withClient { client in
            let form = OutgoingRequest.Method.postForm([("code", "secret")])
            let refused = await Self.error { try await client.send(Self.request(form, "http://127.0.0.1:1/token")) }
            #expect(refused?.mayHaveBeenSent == false)
            let lost = await Self.error { try await client.send(Self.request(form, server.base + "/hang-up")) }
            #expect(lost?.mayHaveBeenSent == true)
            let late = await Self.error {
                try await client.send(Self.request(form, server.base + "/late", timeout: .milliseconds(200)))
            }
            #expect(late == OutgoingHTTPError(.timeout, mayHaveBeenSent: true))
            for error in [refused, lost, late] { #expect(error?.description.contains("secret") == false) }
            let wrong = await Self.error { try await client.send(Self.request(form, "ftp://127.0.0.1/")) }
            #expect(wrong == OutgoingHTTPError(.url, mayHaveBeenSent: false))
        }
    }

    /// A listener with a full queue accepts nobody: the kernel drops new connections.
    @Test(.timeLimit(.minutes(5))) func `A connection that doesn't come about in time sends nothing`() async throws {
        let listener = try FullListener()
        defer { listener.close() }
        try await Self.withClient { client in
            let form = OutgoingRequest.Method.postForm([("code", "secret")])
            let url = "http://127.0.0.1:\(listener.port)/"
            let error = await Self.error {
                try await client.send(Self.request(form, url, timeout: .milliseconds(300)))
            }
            #expect(error == OutgoingHTTPError(.timeout, mayHaveBeenSent: false))
        }
    }

    /// The time limit is for the whole call: each byte arrives long before any pause would be too long.
    @Test(.timeLimit(.minutes(5))) func `A body that drips ends with the time of the call`() async throws {
        let slow = ScriptedHTTPServer.answer(body: String(repeating: "x", count: 10_000))
        let server = try ScriptedHTTPServer { _ in .drip(slow, milliseconds: 5) }
        defer { server.stop() }
        try await Self.withClient { client in
            let clock = ContinuousClock()
            let begun = clock.now
            let error = await Self.error {
                try await client.send(
                    Self.request(.get(), server.base + "/", timeout: .milliseconds(700), bodyBytesMax: 20_000)
                )
            }
            #expect(error == OutgoingHTTPError(.timeout, mayHaveBeenSent: true))
            #expect(clock.now - begun < .seconds(20), "the whole body would take 50 s")
        }
    }

    @Test func `A body may be as long as the request allows and no longer`() async throws {
        let server = try ScriptedHTTPServer { request in
            .bytes(
                ScriptedHTTPServer.answer(body: String(repeating: "x", count: request.path == "/fits" ? 1000 : 1001))
            )
        }
        defer { server.stop() }
        try await Self.withClient { client in
            let answer = try await client.send(Self.request(.get(), server.base + "/fits"))
            #expect(answer.body.count == 1000)
            let error = await Self.error { try await client.send(Self.request(.get(), server.base + "/long")) }
            #expect(error == OutgoingHTTPError(.bodyTooLarge, mayHaveBeenSent: true))
        }
    }

    @Test func `A redirect is an answer`() async throws {
        let server = try ScriptedHTTPServer([
            "/moved": ScriptedHTTPServer.answer("307 Temporary Redirect", "location: /other\r\n", body: "")
        ])
        defer { server.stop() }
        try await Self.withClient { client in
            let form = OutgoingRequest.Method.postForm([("code", "secret")])
            let answer = try await client.send(Self.request(form, server.base + "/moved"))
            #expect(answer.status == 307)
        }
        #expect(server.requests.count == 1)
    }

    @Test(.timeLimit(.minutes(5))) func `A cancelled caller doesn't wait`() async throws {
        let server = try ScriptedHTTPServer([:])
        defer { server.stop() }
        try await Self.withClient { client in
            let task = Task {
                await Self.error {
                    try await client.send(Self.request(.get(), server.base + "/", timeout: .seconds(600)))
                }
            }
            try await eventually { !server.requests.isEmpty }
            task.cancel()
            #expect(await task.value?.cause == .cancelled)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `More requests than the maximum are refused at once`() async throws {
        let server = try ScriptedHTTPServer([:])
        defer { server.stop() }
        try await Self.withClient { client in
            await withTaskGroup(of: OutgoingHTTPError?.self) { group in
                for _ in 0...HTTPSClient.Limits().requestsMax {
                    group.addTask {
                        await Self.error {
                            try await client.send(Self.request(.get(), server.base + "/", timeout: .seconds(600)))
                        }
                    }
                }
                let first = await group.next()
                #expect(first == OutgoingHTTPError(.overloaded, mayHaveBeenSent: false))
                group.cancelAll()
            }
        }
    }

    static func request(
        _ method: OutgoingRequest.Method,
        _ url: String,
        timeout: Duration = .seconds(30),
        bodyBytesMax: Int = 1000
    ) -> OutgoingRequest {
        OutgoingRequest(method, url, timeout: timeout, bodyBytesMax: bodyBytesMax)
    }

    static func withClient(
        limits: HTTPSClient.Limits = HTTPSClient.Limits(),
        connectTimeout: Duration = .seconds(30),
        trust: TrustStore = .system(),
        proxies: ProxySettings = .none,
        resolver: any NameResolver = SystemNameResolver(),
        _ body: (HTTPSClient) async throws -> Void
    ) async throws {
        try await withEventLoopGroup(loopCount: 2, name: "outgoing") { group in
            try await body(
                HTTPSClient(
                    userAgent: "test",
                    group: group,
                    limits: limits,
                    connectTimeout: connectTimeout,
                    trust: trust,
                    proxies: proxies,
                    resolver: resolver
                )
            )
        }
    }

    static func error(_ body: () async throws -> OutgoingResponse) async -> OutgoingHTTPError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? OutgoingHTTPError
        }
    }
}

/// A socket that listens with a full queue.
private struct FullListener {
    struct Failed: Error {}

    let port: UInt16
    private var descriptors: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var outgoing: [Int32] = [listener]
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 0) == 0,
                    getsockname(listener, address, &length) == 0
                else { return false }
                // One more than the queue holds, and some for kernels that hold more.
                for _ in 0..<4 {
                    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                    outgoing.append(socket)
                    _ = connect(socket, address, length)
                }
                return true
            }
        }
        guard isReady else { throw Failed() }
        descriptors = outgoing
        port = UInt16(bigEndian: address.sin_port)
    }

    func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }
}
