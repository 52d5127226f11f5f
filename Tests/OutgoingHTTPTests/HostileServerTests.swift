import ScriptedHTTP
import Testing

@testable import OutgoingHTTP

/// Servers that keep us waiting, make us hold things, or break off.
struct HostileServerTests {
    private static let head = "HTTP/1.1 200 OK\r\n"
    private static let block = String(repeating: "x", count: 8192)

    /// Answers, what they must come to, and whether the error's words name it.
    static let answers: [(name: String, answer: ScriptedHTTPServer.Answer, isTooLong: Bool)] = [
        ("fields without end", .endless(head, "a: b\r\n"), false),
        ("a line without end", .endless(head + "a: ", block), false),
        ("interim answers without end", .endless("", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), false),
        ("a body without end", .endless(head + "\r\n", block), true),
        ("chunks without end", .endless(head + "transfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n"), true),
        ("trailers without end", .endless(head + "transfer-encoding: chunked\r\n\r\n0\r\n", "a: b\r\n"), false),
        ("a length beyond all bounds", .endless(head + "content-length: 1000000000000\r\n\r\n", ""), true),
        (
            "a chunk beyond all bounds",
            .endless(head + "transfer-encoding: chunked\r\n\r\nfffffffffffffff\r\n", block), true
        ),
        ("a chunk whose length is no number", .bytes(head + "transfer-encoding: chunked\r\n\r\n-1\r\nx\r\n"), false),
        ("a length that is no number", .bytes(head + "content-length: ten\r\n\r\nx"), false),
        ("no HTTP", .bytes("nothing of the sort\r\n\r\n"), false),
        ("HTTP/0.9", .bytes("<html>"), false),
        ("nothing", .hangUp, false),
        ("half a head", .bytes(head + "content-le"), false),
        ("half a body", .bytes(head + "content-length: 10\r\n\r\nhalf"), false),
        ("half a chunk", .bytes(head + "transfer-encoding: chunked\r\n\r\n5\r\nha"), false),
        ("a reset before the head", .reset(""), false),
        ("a reset in the body", .reset(head + "content-length: 10\r\n\r\nhalf"), false),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: answers.indices)
    func `No server keeps us longer, or makes us hold more, than we want`(index: Int) async throws {
        let (name, answer, isTooLong) = Self.answers[index]
        let server = try ScriptedHTTPServer { _ in answer }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let form = OutgoingRequest.Method.postForm([("code", "secret")])
            let error = await HTTPSClientTests.error {
                try await client.send(HTTPSClientTests.request(form, server.base + "/token"))
            }
            #expect(error?.mayHaveBeenSent == true, "\(name)")
            if isTooLong {
                #expect(error?.cause == .bodyTooLarge, "\(name)")
            } else {
                guard case .connection = error?.cause else {
                    Issue.record("\(name): \(String(describing: error))")
                    return
                }
            }
            #expect(error?.description.contains("secret") == false)
        }
        #expect(server.requests.count == 1, "\(name): a form is never sent twice")
    }

    @Test func `A compressed body is not inflated, so a bomb does no harm`() async throws {
        let server = try ScriptedHTTPServer([
            "/": ScriptedHTTPServer.answer("200 OK", "content-encoding: gzip\r\n", body: "no gzip")
        ])
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let answer = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
            #expect(answer.body == Array("no gzip".utf8))
            #expect(answer.header("content-encoding") == "gzip")
        }
        #expect(server.requests.first?.headers.contains("accept-encoding") == false)
    }

    @Test func `Interim answers and trailers are no part of the answer's head`() async throws {
        let server = try ScriptedHTTPServer { _ in
            .bytes(
                "HTTP/1.1 103 Early Hints\r\nx-a: early\r\n\r\nHTTP/1.1 200 OK\r\nx-b:  two words \r\nx-b: \r\n"
                    + "transfer-encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\nx-c: late\r\n\r\n"
            )
        }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let answer = try await client.send(HTTPSClientTests.request(.get(), server.base + "/"))
            #expect(answer.body == Array("yes".utf8))
            #expect(answer.headers.map(\.name) == ["x-b", "x-b", "transfer-encoding"])
            #expect(answer.header("x-b") == "two words,")
        }
    }

    @Test func `Cookies are not kept`() async throws {
        let server = try ScriptedHTTPServer { _ in ScriptedHTTPServer.keptAnswer("", "set-cookie: a=b\r\n") }
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            for _ in 0..<2 { _ = try await client.send(HTTPSClientTests.request(.get(), server.base + "/")) }
        }
        #expect(server.requests.map { $0.headers.contains("cookie") } == [false, false])
    }

    @Test(arguments: [("x-a", "b\r\nx-c: d"), ("x-a\r\nx-c", "d"), ("x a", "b"), ("", "b"), ("x-a", "b\0")])
    func `Nothing in a header field begins another`(name: String, value: String) async throws {
        let server = try ScriptedHTTPServer(["/": ScriptedHTTPServer.answer(body: "")])
        defer { server.stop() }
        try await HTTPSClientTests.withClient { client in
            let request = OutgoingRequest(
                .get(),
                server.base + "/",
                headers: [(name, value)],
                timeout: .seconds(30),
                bodyBytesMax: 100
            )
            let error = await HTTPSClientTests.error { try await client.send(request) }
            #expect(error?.mayHaveBeenSent == false)
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        "http://", "http:///", "http://a b/", "http://user@127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd",
        "/path",
        "127.0.0.1", "http://127.0.0.1:0x50/", "http://127.0.0.1:99999/", "http://\u{e9}.example/",
        "http://127.0.0.1/\r\n",
        "http://a,b/", "http://a%2fb/", "http://[::1/", "http://[::g]/",
    ])
    func `An invalid URL is not requested`(url: String) async throws {
        try await HTTPSClientTests.withClient { client in
            let error = await HTTPSClientTests.error { try await client.send(HTTPSClientTests.request(.get(), url)) }
            #expect(error == OutgoingHTTPError(.url, mayHaveBeenSent: false))
        }
    }
}
