import RPCTransport
import ScriptedHTTP
import Testing

@testable import OutgoingHTTP

/// Requests that must reach nothing private, by whatever way its address is written or found.
struct PublicAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1",
        "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:10::1",
        "2001:1ff::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "3fff::1", "3fff:fff::1",
        "4000::1", "5f00::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1",
    ])
    func `Private and special addresses are none that anybody may reach`(address: String) {
        #expect(PublicAddress.isPublic(address) == false)
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2001:4860:4860::8888", "2001:db9::1", "2002:808:808::1",
        "2606:4700::1111", "3ffe::1", "3fff:1000::1",
    ])
    func `Their neighbours are`(address: String) {
        #expect(PublicAddress.isPublic(address) == true)
    }

    @Test(arguments: ["", "localhost", "127.1", "0x7f000001", "2130706433", "fe80::1%lo", "[::1]", "1.2.3.4.5"])
    func `A text that isn't a numeric address is neither`(text: String) {
        #expect(PublicAddress.isPublic(text) == nil)
    }

    private static func request(_ url: String, _ reach: OutgoingRequest.Reach = .publicAddresses) -> OutgoingRequest {
        OutgoingRequest(
            .other("POST", body: Array("{}".utf8)),
            url,
            timeout: .seconds(30),
            bodyBytesMax: 1024,
            reach: reach
        )
    }

    /// What a URL reads as is no matter: libcurl takes all of these for this machine.
    @Test(arguments: [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0",
    ])
    func `This machine is not asked, however it is written, and hears nothing`(host: String) async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let error = await HTTPSClientTests.error {
                try await client.send(Self.request("http://\(host):\(server.port)/"))
            }
            #expect(error == OutgoingHTTPError(.addressNotPublic, mayHaveBeenSent: false))
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `A name that means this machine is refused too, and the rest of its addresses is tried`() async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        let names = [
            "inside.example": ["10.0.0.1", "127.0.0.1", "::1", "fd00::1"], "mapped.example": ["::ffff:127.0.0.1"],
        ]
        try await HTTPSClientTests.withClient(resolver: TestResolver(names)) { client in
            for name in names.keys {
                let error = await HTTPSClientTests.error {
                    try await client.send(Self.request("http://\(name):\(server.port)/"))
                }
                #expect(error == OutgoingHTTPError(.addressNotPublic, mayHaveBeenSent: false))
            }
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `A kept connection to a private address is not used by who may not go there`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        try await ConnectionTests.onOneLoop { client in
            let answer = try await client.send(Self.request(server.base + "/", .anywhere))
            #expect(answer.status == 200)
            let error = await HTTPSClientTests.error { try await client.send(Self.request(server.base + "/")) }
            #expect(error == OutgoingHTTPError(.addressNotPublic, mayHaveBeenSent: false))
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests.count == 1)
    }

    @Test func `A redirect is an answer, and goes nowhere`() async throws {
        let inside = try ScriptedHTTPServer(["/secret": ScriptedHTTPServer.answer(body: "secret")])
        defer { inside.stop() }
        let server = try ScriptedHTTPServer { _ in
            .bytes(ScriptedHTTPServer.answer("307 Temporary", "location: \(inside.base)/secret\r\n", body: ""))
        }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let answer = try await client.send(Self.request(server.base + "/", .anywhere))
            #expect(answer.status == 307)
        }
        #expect(inside.connectionCount == 0)
    }

    @Test func `Through a proxy the proxy decides`() async throws {
        let proxy = try ScriptedHTTPServer { _ in .bytes(ScriptedHTTPServer.answer(body: "by the proxy")) }
        defer { proxy.stop() }
        var proxies = ProxySettings()
        proxies.http = try Proxy(proxy.base)
        try await HTTPSClientTests.withClient(proxies: proxies) { client in
            let answer = try await client.send(Self.request("http://10.0.0.1/"))
            #expect(answer.status == 200)
        }
        #expect(proxy.requests.count == 1)
    }

    // MARK: - Bodies that nobody wants

    private static func dropping(_ url: String, within timeout: Duration = .seconds(30)) -> OutgoingRequest {
        OutgoingRequest(
            .other("POST", body: Array("{}".utf8)),
            url,
            timeout: timeout,
            bodyBytesMax: 1024,
            body: .dropped
        )
    }

    @Test func `Little is read of an unwanted body, and its head is the answer`() async throws {
        let head = "HTTP/1.1 202 Accepted\r\nx-word: one\r\n"
        let server = try ScriptedHTTPServer { request in
            switch request.path {
            case "/endless": .endless(head + "\r\n", String(repeating: "x", count: 4_000))
            case "/announced": .endless(head + "content-length: 99999999999\r\n\r\n", "x")
            case "/broken": .bytes(head + "content-length: 100\r\n\r\nshort")
            default: .endless(head + "content-length: 100\r\n\r\nslow", "")
            }
        }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            for path in ["/endless", "/announced", "/broken"] {
                let answer = try await client.send(Self.dropping(server.base + path))
                #expect(answer.status == 202 && answer.body.isEmpty && answer.header("x-word") == "one", "\(path)")
            }
            let answer = try await client.send(Self.dropping(server.base + "/slow", within: .milliseconds(300)))
            #expect(answer.status == 202)
        }
    }

    @Test func `Its connection is used again where the body was short`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("yes") }
        defer { server.stop() }
        try await ConnectionTests.onOneLoop { client in
            for _ in 0..<5 {
                let answer = try await client.send(Self.dropping(server.base + "/"))
                #expect(answer.status == 200)
            }
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `A head that comes too slowly is no answer`() async throws {
        let server = try ScriptedHTTPServer { _ in
            .drip("HTTP/1.1 200 OK\r\nx-word: \(String(repeating: "a", count: 200))", milliseconds: 20)
        }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let error = await HTTPSClientTests.error {
                try await client.send(Self.dropping(server.base + "/", within: .milliseconds(300)))
            }
            #expect(error == OutgoingHTTPError(.timeout, mayHaveBeenSent: true))
        }
    }
}
