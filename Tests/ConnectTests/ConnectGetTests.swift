import HTTP
import HTTPTypes
import RPC
import SwiftProtobuf
import Testing

/// Unary calls of Connect by GET ("Unary-Get-Request").
struct ConnectGetTests {
    func get(_ query: String, _ name: String = "Get") async throws -> HTTPAnswer {
        try await Call(name, nil).with {
            $0.method = .get
            $0.path += query
        }.answer()
    }

    @Test(arguments: [
        "?message=%7B%22name%22%3A%22a+b%22%7D&encoding=json&connect=v1",
        "?connect=v1&encoding=json&message={\"name\":\"a%20b\"}",
        "?encoding=json&message=%7b%22name%22:%22a+b%22}&unknown=1&message=second&&=&x",
        "?encoding=json&base64=1&message=eyJuYW1lIjoiYSBiIn0",
        "?encoding=json&base64=1&message=eyJuYW1lIjoiYSBiIn0%3D",
        "?encoding=json&base64=yes&message=%7B%22name%22%3A%22a+b%22%7D",
        "?encoding=json&compression=identity&message=%7B%22name%22%3A%22a+b%22%7D",
    ])
    func `The message is in the query`(query: String) async throws {
        let answer = try await get(query)
        #expect(answer.status == 200)
        #expect(answer.contentType == "application/json")
        #expect(answer.text == #"{"name":"a b"}"#)
        #expect(answer.fields.first("vary") == "accept-encoding")
    }

    @Test func `Binary comes in base64 for URLs`() async throws {
        let message = EchoMethods.message("\u{3bf}\u{3bf}?>~", root: "ÿÿÿ")
        let text = String(decoding: Base64.encode(try message.serializedBytes()), as: UTF8.self)
        #expect(text.contains("/") || text.contains("+"))
        let forURL = text.map { ["+": "-", "/": "_"][$0] ?? String($0) }.joined()
        let answer = try await get("?encoding=proto&base64=1&message=\(forURL)")
        #expect(answer.contentType == "application/proto")
        #expect(try EchoMethods.Message(serializedBytes: answer.body) == message)
        #expect(try await get("?encoding=proto&base64=1&message=CgFh%2B%2F%2F").status == 400)
    }

    @Test func `A compressed message`() async throws {
        let gzipped = try ConnectUnaryTests.gzipped(Array(#"{"name":"\#(ConnectUnaryTests.long)"}"#.utf8))
        let text = String(decoding: Base64.encode(gzipped), as: UTF8.self)
            .map { ["+": "-", "/": "_"][$0] ?? String($0) }.joined()
        let answer = try await get("?encoding=json&compression=gzip&base64=1&message=\(text)")
        #expect(answer.text == #"{"name":"\#(ConnectUnaryTests.long)"}"#)
        #expect(try await get("?encoding=json&compression=br&message=%7B%7D").status == 501)
        #expect(try await get("?encoding=proto&compression=gzip&message=").status == 200)
    }

    @Test(arguments: [
        ("", 415), ("?", 415), ("?message=%7B%7D", 415), ("?encoding=xml&message=%7B%7D", 415),
        ("?encoding=json", 400), ("?encoding=json&message=", 400), ("?encoding=json&message", 400),
        ("?encoding=json&message=%7B%7D&connect=v2", 400), ("?encoding=json&message=%7B%7D&connect=", 400),
        ("?encoding=json&message=%7", 400), ("?encoding=json&message=%zz", 400), ("?encoding=json&message=%ff", 400),
        ("?encoding=json&base64=1&message=*", 400), ("?encoding=json&base64=1&message=A", 400),
        ("?encoding=proto&message=", 200), ("?encoding=json&message=%7B%7D#x", 400),
    ])
    func `A malformed query is refused`(query: String, status: Int) async throws {
        #expect(try await get(query).status == status)
    }

    @Test func `Only methods that say so are called by GET`() async throws {
        let answer = try await get("?encoding=json&message=%7B%7D", "Echo")
        #expect(answer.status == 405)
        #expect(answer.fields.first("allow") == "POST")
        let wrong = try await Call("Get", json: "{}").with { $0.method = .put }.answer()
        #expect(wrong.fields.first("allow") == "GET, POST")
        #expect(try await Call("Get", json: "{}").answer().status == 200)
        let withBody = try await Call("Get", json: "{}").with {
            $0.method = .get
            $0.path += "?encoding=json&message=%7B%7D"
        }.answer()
        #expect(withBody.status == 405)
    }

    @Test func `A timeout holds for GET too`() async throws {
        let answer = try await Call("Get", nil).with {
            $0.method = .get
            $0.path += "?encoding=json&message=%7B%7D"
            $0.fields.add("connect-timeout-ms", "x")
        }.answer()
        #expect(answer.status == 400)
    }
}
