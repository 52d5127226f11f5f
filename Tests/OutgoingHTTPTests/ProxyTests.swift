import FoundationEssentials
import RPCTransport
import ScriptedHTTP
import TestCertificates
import Testing

@testable import OutgoingHTTP

/// The way out through a proxy.
struct ProxyTests {
    @Test func `A request without TLS is handed to the proxy whole`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("by proxy") }
        defer { server.stop() }
        let proxies = ProxySettings(http: try Proxy("http://me:pass%20word@127.0.0.1:\(server.port)"))
        try await HTTPSClientTests.withClient(proxies: proxies) { client in
            let answer = try await client.send(HTTPSClientTests.request(.get(), "http://provider.example/keys"))
            #expect(answer.body == Array("by proxy".utf8))
        }
        let request = try #require(server.requests.first)
        #expect(request.line == "GET http://provider.example/keys HTTP/1.1")
        let credentials = Data("me:pass word".utf8).base64EncodedString()
        #expect(request.headers.contains("proxy-authorization: basic \(credentials.lowercased())"))
    }

    @Test(.timeLimit(.minutes(5))) func `A request with TLS goes through a tunnel, and the proxy learns only the host`()
        async throws
    {
        let authority = try TestAuthority()
        defer { authority.remove() }
        let files = try authority.issue("server", names: "DNS:provider.example")
        let target = try TLSServer(files)
        defer { target.stop() }
        let server = try ScriptedHTTPServer { [port = target.port] _ in .tunnel(port) }
        defer { server.stop() }
        let proxies = ProxySettings(https: try Proxy("127.0.0.1:\(server.port)"))
        try await HTTPSClientTests.withClient(trust: TrustStore(file: authority.file), proxies: proxies) { client in
            let form = OutgoingRequest.Method.get(query: [("token", "secret")])
            let request = HTTPSClientTests.request(form, "https://provider.example/", bodyBytesMax: 100_000)
            let answer = try await client.send(request)
            #expect(answer.status == 200)
        }
        #expect(server.requestLines == ["CONNECT provider.example:443 HTTP/1.1"])
        #expect(server.requests.allSatisfy { !$0.headers.contains("secret") && !$0.headers.contains("proxy-auth") })
    }

    @Test(arguments: ["407 Proxy Authentication Required", "502 Bad Gateway"])
    func `If the proxy makes no tunnel, nothing was sent`(status: String) async throws {
        let server = try ScriptedHTTPServer { _ in .bytes(ScriptedHTTPServer.answer(status, body: "no")) }
        defer { server.stop() }
        let proxies = ProxySettings(https: try Proxy("http://me:secret@127.0.0.1:\(server.port)"))
        try await HTTPSClientTests.withClient(proxies: proxies) { client in
            let form = OutgoingRequest.Method.postForm([("code", "secret")])
            let error = await HTTPSClientTests.error {
                try await client.send(HTTPSClientTests.request(form, "https://provider.example/"))
            }
            #expect(error?.mayHaveBeenSent == false)
            #expect(error?.description.contains("secret") == false)
            guard case .connection = error?.cause else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `This machine itself is asked directly, and so are the exceptions`() async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "yes")])
        defer { server.stop() }
        let nowhere = try Proxy("http://127.0.0.1:1")
        let proxies = ProxySettings(
            https: nowhere,
            http: nowhere,
            exceptions: ProxyExceptions("10.0.0.0/8,.inside.example:81")
        )
        try await HTTPSClientTests.withClient(proxies: proxies) { client in
            let answer = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
            #expect(answer.status == 200)
        }
        func isDirect(_ url: String) throws -> Bool { proxies.proxy(for: try #require(RequestURL(url))) == nil }
        for url in [
            "http://localhost/", "https://127.9.9.9/", "http://[::1]:80/", "http://10.1.2.3/",
            "http://a.inside.example:81/",
            "http://inside.example:81/",
        ] {
            #expect(try isDirect(url), "\(url)")
        }
        for url in [
            "http://11.0.0.1/", "http://a.inside.example/", "https://outinside.example:81/", "https://128.0.0.1/",
        ] {
            #expect(try !isDirect(url), "\(url)")
        }
    }

    @Test func `Exceptions are names with what is below them, addresses, networks, or everything`() throws {
        let cases: [(exceptions: String, url: String, isMet: Bool)] = [
            ("*", "https://a.example", true), ("", "https://a.example", false), (" , ", "https://a.example", false),
            ("a.example", "https://A.EXAMPLE", true), ("a.example", "https://b.a.example", true),
            ("*.a.example", "https://b.a.example", true), ("a.example", "https://ba.example", false),
            ("b.example a.example", "https://a.example", true), ("a.example:443", "https://a.example", true),
            ("a.example:80", "https://a.example", false), ("192.0.2.1", "https://192.0.2.1", true),
            ("192.0.2.0/23", "https://192.0.3.9", true), ("192.0.2.0/24", "https://192.0.3.9", false),
            ("0.0.0.0/0", "https://192.0.3.9", true), ("0.0.0.0/0", "https://[2001:db8::1]", false),
            ("2001:db8::/33", "https://[2001:db8:7fff::1]", true),
            ("2001:db8::/33", "https://[2001:db8:8000::]", false),
            ("[2001:db8::1]:443", "https://[2001:db8::1]", true), ("192.0.2.0/33", "https://192.0.2.0", false),
            ("10.0.0.1:x", "https://10.0.0.1", false),
        ]
        for (exceptions, url, isMet) in cases {
            let parsed = try #require(RequestURL(url))
            #expect(ProxyExceptions(exceptions).contain(parsed) == isMet, "\(exceptions) and \(url)")
        }
    }

    @Test func `A proxy is a URL, and printed without its password`() throws {
        let proxy = try Proxy("https://me:secret@proxy.example:3128")
        #expect("\(proxy)" == "https://proxy.example:3128")
        #expect(try "\(Proxy("proxy.example"))" == "http://proxy.example:80")
        #expect(try "\(Proxy("[::1]:8080"))" == "http://[::1]:8080")
        for text in ["", "socks5://proxy.example", "http://", "proxy.example:port", "a b"] {
            #expect(throws: Proxy.Malformed.self, "\(text)") { try Proxy(text) }
        }
    }
}
