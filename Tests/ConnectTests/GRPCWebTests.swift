import HTTP
import HTTPTypes
import RPC
import SwiftProtobuf
import Testing

/// gRPC-Web (PROTOCOL-WEB), binary and text.
struct GRPCWebTests {
    static let types = [
        "application/grpc-web", "application/grpc-web+proto", "application/grpc-web-text",
        "application/grpc-web-text+proto",
    ]

    static func isText(_ type: String) -> Bool { type.contains("text") }

    static func call(_ name: String, _ type: String, _ envelopes: [Envelope]) -> Call {
        let body = envelopes.flatMap(\.bytes)
        return Call(name, type, body: isText(type) ? Base64.encode(body, padded: true) : body)
    }

    func envelopes(_ answer: HTTPAnswer) throws -> [Envelope] {
        #expect(answer.status == 200)
        let type = try #require(answer.contentType)
        guard Self.isText(type) else { return try #require(Envelope.all(in: answer.body)) }
        // Pieces that were encoded each for itself: padding ends one.
        var body: [UInt8] = []
        var piece: [UInt8] = []
        for character in answer.body {
            piece.append(character)
            if piece.count == 4 {
                body += try #require(Base64.decode(piece))
                piece = []
            }
        }
        #expect(piece.isEmpty)
        return try #require(Envelope.all(in: body))
    }

    @Test(arguments: types)
    func `A unary call`(type: String) async throws {
        let answer = try await Self.call("Echo", type, [Envelope(name: "Grüße")]).answer()
        #expect(
            answer.contentType == (Self.isText(type) ? "application/grpc-web-text+proto" : "application/grpc-web+proto")
        )
        let all = try envelopes(answer)
        #expect(all.map(\.flags) == [0, 0x80])
        #expect(try all.first?.decoded().name == "Grüße")
        #expect(all.last == Envelope(flags: 0x80, text: "grpc-status: 0\r\n"))
    }

    @Test func `Messages in JSON are taken`() async throws {
        let answer = try await Call("Echo", "application/grpc-web+json", body: Envelope(text: #"{"name":"a"}"#).bytes)
            .answer()
        #expect(answer.contentType == "application/grpc-web+json")
        #expect(try envelopes(answer).first == Envelope(text: #"{"name":"a"}"#))
    }

    @Test(arguments: types)
    func `Streams of each kind are answered`(type: String) async throws {
        let many = try await Self.call("Count", type, [Envelope(name: "3")]).answer()
        #expect(try envelopes(many).dropLast().map { try $0.decoded().name } == ["0", "1", "2"])
        let joined = try await Self.call("Join", type, ["a", "b"].map { try Envelope(name: $0) }).answer()
        #expect(try envelopes(joined).first?.decoded().name == "a b")
        let each = Self.call("Each", type, try ["a", "b"].map { try Envelope(name: $0) })
        #expect(try await envelopes(each.answer()).count == 3)
        #expect(try await each.with { $0.version = .http11 }.answer().status == 505)
    }

    @Test(arguments: [
        ("application/grpc-web", "application/grpc-web-text", true), ("application/grpc-web-text", "*/*", true),
        ("application/grpc-web", "*/*", false), ("application/grpc-web-text", "application/grpc-web+proto", false),
    ])
    func `The answer is text if Accept says so, or else if the request is`(type: String, accept: String, isText: Bool)
        async throws
    {
        let answer = try await Self.call("Echo", type, [Envelope(name: "a")]).with(["accept": accept]).answer()
        #expect(Self.isText(answer.contentType ?? "") == isText)
        #expect(try envelopes(answer).count == 2)
    }

    @Test(arguments: 1...16)
    func `An error without a message before it is in the head alone`(code: Int) async throws {
        let call = try Self.call("Fail", "application/grpc-web", [Envelope(name: "\(code)", root: " 100 % ü\r\nx: y")])
        let answer = try await call.answer()
        #expect(answer.status == 200)
        #expect(answer.body == [])
        #expect(answer.fields.first("grpc-status") == "\(code)")
        #expect(answer.fields.first("grpc-message") == "%20100 %25 %C3%BC%0D%0Ax: y")
        #expect(answer.fields.first("x-trailing") == "t")
        #expect(answer.fields.first("x-error") == "e")
        #expect(answer.fields.all("content-type") == ["application/grpc-web+proto"])
    }

    @Test func `Details come as gRPC's`() async throws {
        let answer = try await Self.call("Details", "application/grpc-web", [Envelope(name: "Taken.")]).answer()
        let details = try #require(answer.fields.firstBinary("grpc-status-details-bin"))
        #expect(text(details).contains("NAME_TAKEN"))
    }

    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(arguments: types)
    func `An error after a message is in the trailers`(type: String) async throws {
        let answer = try await Self.call("Count", type, [Envelope(name: "1", root: "fail")]).answer()
        let last = try envelopes(answer).last
        #expect(last == Envelope(flags: 0x80, text: "grpc-status: 15\r\ngrpc-message: lost \"it\"\r\n"))
        #expect(try envelopes(answer).count == 2)
    }

    @Test func `Metadata is in the head and in the trailers`() async throws {
        let call = try Self.call("Metadata", "application/grpc-web", [Envelope(name: "")])
            .with([
                "x-grpc-web": "1", "x-user-agent": "test", "grpc-accept-encoding": "gzip", "grpc-timeout": "5S",
                "x-a": "b",
            ])
        let answer = try await call.answer()
        #expect(answer.fields.first("x-initial") == "one")
        let all = try envelopes(answer)
        #expect(try all.first?.decoded().name == "x-a=b;x-user-agent=test")
        #expect(all.last?.message == Array("grpc-status: 0\r\nx-trailing: a\r\nx-trailing: b\r\n".utf8))
    }

    @Test(arguments: ["5S", "00000005S", "99999999H", "1M", "9000m", "90000000u"])
    func `A timeout is the handler's deadline`(timeout: String) async throws {
        let call = try Self.call("Deadline", "application/grpc-web", [Envelope(name: "")]).with([
            "grpc-timeout": timeout
        ])
        #expect(try await envelopes(call.answer()).first?.decoded().name == "true")
    }

    @Test(arguments: [
        ("5", "13"), ("S", "13"), ("5s", "13"), ("123456789S", "13"), ("-1S", "13"), ("20m", "4"), ("0S", "4"),
    ])
    func `A timeout that is none, and one that passes`(timeout: String, status: String) async throws {
        let call = try Self.call("Wait", "application/grpc-web", [Envelope(name: "")]).with(["grpc-timeout": timeout])
        #expect(try await call.answer().fields.first("grpc-status") == status)
    }

    @Test func `Compressed messages both ways`() async throws {
        let long = ConnectUnaryTests.long
        let message = try ConnectUnaryTests.gzipped(EchoMethods.message(long).serializedBytes())
        let call = Self.call("Compressed", "application/grpc-web", [Envelope(flags: 1, message)])
            .with(["grpc-encoding": "gzip", "grpc-accept-encoding": "identity,gzip"])
        let answer = try await call.answer()
        #expect(answer.fields.first("grpc-encoding") == "gzip")
        let first = try #require(envelopes(answer).first)
        #expect(first.flags == 1)
        let unknown = try await call.with { $0.fields = Metadata(["grpc-encoding": "br"]) }.answer()
        #expect(unknown.fields.first("grpc-status") == "12")
        let unsaid = try await call.with { $0.fields = Metadata() }.answer()
        #expect(unsaid.fields.first("grpc-status") == "3")
    }

    @Test func `An unknown method, and other HTTP methods`() async throws {
        let unknown = try await Self.call("None", "application/grpc-web", []).answer()
        #expect(unknown.status == 200)
        #expect(unknown.fields.first("grpc-status") == "12")
        #expect(
            try await Self.call("Echo", "application/grpc-web", []).with { $0.method = .get }.answer().status == 405
        )
    }

    // MARK: Hostile requests

    @Test(arguments: types)
    func `A request cut anywhere is refused`(type: String) async throws {
        let whole = try Self.call("Echo", type, [Envelope(name: "1", root: "abc")])
        for count in 0..<whole.body.count {
            let answer = try await whole.with { $0.body = Array(whole.body.prefix(count)) }.answer()
            #expect(answer.fields.first("grpc-status") == (count == 0 ? "12" : "3"))
        }
    }

    @Test(arguments: ["*", "A===", "=AAA", "AA=A", "AAAA=", "AAA", "AAAA AAAA", "\u{e4}", "AA\n==", "----", "A"])
    func `Malformed base64 is refused`(text: String) async throws {
        let answer = try await Call("Echo", "application/grpc-web-text", body: Array(text.utf8)).answer()
        #expect(answer.fields.first("grpc-status") == "3")
    }

    @Test func `Base64 that was written piece by piece`() async throws {
        let bytes = try Envelope(name: "abcdefgh").bytes
        for size in 1...bytes.count {
            var body: [UInt8] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                body += Base64.encode(Array(rest.prefix(size)), padded: true)
                rest = rest.dropFirst(size)
            }
            let answer = try await Call("Echo", "application/grpc-web-text", body: body).answer()
            #expect(try envelopes(answer).first?.decoded().name == "abcdefgh")
        }
    }

    @Test(arguments: [0x80, 0x81, 2, 0xff] as [UInt8])
    func `Flags that a request may not have`(flags: UInt8) async throws {
        let answer = try await Self.call("Echo", "application/grpc-web", [Envelope(flags: flags, [])]).answer()
        #expect(answer.fields.first("grpc-status") == "3")
    }
}
