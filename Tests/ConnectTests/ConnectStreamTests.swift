import HTTP
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// Streaming calls of Connect ("Streaming RPCs").
struct ConnectStreamTests {
    static let proto = "application/connect+proto"
    static let json = "application/connect+json"

    func envelopes(_ answer: HTTPAnswer) throws -> [Envelope] {
        #expect(answer.status == 200)
        return try #require(Envelope.all(in: answer.body))
    }

    /// The payload of the end envelope, which is the only one.
    func end(_ answer: HTTPAnswer) throws -> String {
        let all = try envelopes(answer)
        #expect(all.map(\.flags) == [2])
        return String(decoding: all.last?.message ?? [], as: UTF8.self)
    }

    @Test(arguments: [HTTPVersion.http10, .http11, .http2])
    func `A stream of answers`(version: HTTPVersion) async throws {
        let call = try Call("Count", Self.proto, body: Envelope(name: "3").bytes).with { $0.version = version }
        let answer = try await call.answer()
        #expect(answer.contentType == Self.proto)
        let all = try envelopes(answer)
        #expect(all.map(\.flags) == [0, 0, 0, 2])
        #expect(try all.dropLast().map { try $0.decoded().name } == ["0", "1", "2"])
        #expect(all.last == Envelope(flags: 2, text: "{}"))
        #expect(answer.trailers.isEmpty)
    }

    @Test func `In JSON`() async throws {
        let answer = try await Call("Count", Self.json, body: Envelope(text: #"{"name":"1","root":"r"}"#).bytes)
            .answer()
        #expect(answer.contentType == Self.json)
        #expect(try envelopes(answer) == [Envelope(text: #"{"name":"0","root":"r"}"#), Envelope(flags: 2, text: "{}")])
    }

    @Test(arguments: [HTTPVersion.http11, .http2])
    func `A stream of requests`(version: HTTPVersion) async throws {
        let body = try ["a", "", "c"].flatMap { try Envelope(name: $0).bytes }
        let answer = try await Call("Join", Self.proto, body: body).with { $0.version = version }.answer()
        let all = try envelopes(answer)
        #expect(try all.first?.decoded().name == "a  c")
        #expect(all.dropFirst() == [Envelope(flags: 2, text: "{}")])
        let none = try await Call("Join", Self.proto).answer()
        #expect(try envelopes(none) == [Envelope([]), Envelope(flags: 2, text: "{}")])
    }

    @Test func `Both ways, which needs HTTP 2`() async throws {
        let body = try ["a", "b"].flatMap { try Envelope(name: $0).bytes }
        let call = Call("Each", Self.proto, body: body)
        #expect(try await envelopes(call.answer()).dropLast().map { try $0.decoded().name } == ["a", "b"])
        #expect(try await call.with { $0.version = .http11 }.answer().status == 505)
    }

    @Test func `The end of a stream says how it ended`() async throws {
        let answer = try await Call("Count", Self.json, body: Envelope(text: #"{"name":"1","root":"fail"}"#).bytes)
            .answer()
        let end = #"{"error":{"code":"data_loss","message":"lost \"it\""}}"#
        #expect(try envelopes(answer).last == Envelope(flags: 2, text: end))
        #expect(try envelopes(answer).count == 2)
    }

    @Test func `Metadata is in the head and in the end`() async throws {
        let body = Envelope(text: #"{"name":"0","root":"metadata"}"#).bytes
        let answer = try await Call("Count", Self.json, body: body).answer()
        #expect(answer.fields.first("x-initial") == "one")
        #expect(answer.fields.first("trailer-x-trailing") == nil)
        #expect(try end(answer) == #"{"metadata":{"x-trailing":["a","b"]}}"#)
    }

    @Test(arguments: [
        ("connect-timeout-ms", "x", "invalid_argument"), ("connect-protocol-version", "2", "invalid_argument"),
        ("connect-content-encoding", "br", "unimplemented"),
    ])
    func `An error about the head is in the end envelope too`(name: String, value: String, code: String) async throws {
        for method in ["Count", "Join"] {
            let answer = try await Call(method, Self.json).with { $0.fields.add(name, value) }.answer()
            #expect(try end(answer).hasPrefix(#"{"error":{"code":"\#(code)""#))
        }
    }

    @Test(arguments: [
        ("Echo", "application/connect+json", 415), ("Count", "application/json", 415),
        ("Count", "application/proto", 415),
        ("Count", "application/connect", 415), ("Count", "application/connect+xml", 415),
    ])
    func `A method is called with the content types of its kind`(name: String, type: String, status: Int) async throws {
        let answer = try await Call(name, type).answer()
        #expect(answer.status == status)
        #expect(answer.fields.first("accept-post")?.isEmpty == false)
    }

    @Test func `An unknown method is reported in the end envelope`() async throws {
        let answer = try await Call("None", Self.json).answer()
        #expect(try end(answer) == #"{"error":{"code":"unimplemented","message":"unknown method /test.Echo/None"}}"#)
    }

    // MARK: Hostile requests

    @Test(arguments: ["Count", "Join", "Each"], [2, 3, 4, 0x80, 0xff, 1] as [UInt8])
    func `Flags that a request may not have are rejected`(name: String, flags: UInt8) async throws {
        let answer = try await Call(name, Self.json, body: Envelope(flags: flags, text: "{}").bytes).answer()
        #expect(try end(answer).hasPrefix(#"{"error":{"code":"invalid_argument""#))
    }

    @Test(arguments: ["Count", "Join", "Each"])
    func `A length over the limit is refused before the message has arrived`(name: String) async throws {
        for length in [UInt32(EchoMethods.messageBytesMax + 1), .max, 0x7fff_ffff, 0x8000_0000] {
            let answer = try await Call(name, Self.json, body: [0] + withUnsafeBytes(of: length.bigEndian, Array.init))
                .answer()
            #expect(try end(answer).hasPrefix(#"{"error":{"code":"resource_exhausted""#))
        }
    }

    @Test(arguments: ["Count", "Join"])
    func `An envelope cut anywhere is INVALID_ARGUMENT`(name: String) async throws {
        let whole = try Envelope(name: "1", root: "abc").bytes
        for count in 1..<whole.count {
            let answer = try await Call(name, Self.proto, body: Array(whole.prefix(count))).answer()
            #expect(try end(answer).contains(#""code":"invalid_argument","message":"the request ends within a"#))
        }
    }

    @Test func `A method of one request takes neither none nor two`() async throws {
        #expect(try await end(Call("Count", Self.proto).answer()).contains(#""code":"unimplemented""#))
        let two = try Envelope(name: "1").bytes + Envelope(name: "2").bytes
        #expect(try await end(Call("Count", Self.proto, body: two).answer()).contains(#""code":"unimplemented""#))
    }

    @Test(arguments: ["Count", "Join"])
    func `A malformed message is INVALID_ARGUMENT`(name: String) async throws {
        for (type, body) in [(Self.json, Array("[]".utf8)), (Self.json, []), (Self.proto, [0xff])] {
            let answer = try await Call(name, type, body: Envelope(body).bytes).answer()
            #expect(try end(answer).contains(#""code":"invalid_argument""#))
        }
    }

    @Test func `A body that is aborted or malformed is an error`() async throws {
        let whole = try Envelope(name: "1").bytes
        for name in ["Count", "Join"] {
            let malformed = try await Call(name, Self.proto, body: whole).answer(failure: .malformed)
            #expect(try end(malformed).contains("invalid_argument"))
            let late = try await Call(name, Self.proto, body: whole).answer(failure: .timeout)
            #expect(try end(late).contains("deadline_exceeded"))
        }
    }

    // MARK: Compression

    @Test func `Compressed envelopes both ways`() async throws {
        let request = EchoMethods.message("2" + String(repeating: " ", count: 1000), root: "gzip")
        let gzipped = try ConnectUnaryTests.gzipped(request.serializedBytes())
        let answer = try await Call("Count", Self.proto, body: Envelope(flags: 1, gzipped).bytes)
            .with(["connect-content-encoding": "gzip", "connect-accept-encoding": "gzip"]).answer()
        #expect(answer.fields.first("connect-content-encoding") == "gzip")
        let all = try envelopes(answer)
        #expect(all.map(\.flags) == [1, 0, 2])
        let plain = try #require(all.first).message.withUnsafeBytes { try Gzip.inflate($0, byteCountMax: 10_000) }
        #expect(
            try EchoMethods.Message(serializedBytes: plain)
                == EchoMethods.message("0", root: String(repeating: " ", count: 1000))
        )
    }

    @Test func `Compressed answers`() async throws {
        let long = ConnectUnaryTests.long
        let body = try ["a", "b"].flatMap { _ in
            Envelope(flags: 1, try ConnectUnaryTests.gzipped(EchoMethods.message(long).serializedBytes())).bytes
        }
        let answer = try await Call("Join", Self.proto, body: body).with(["connect-content-encoding": "gzip"]).answer()
        #expect(try envelopes(answer).first?.decoded().name == "\(long) \(long)")
    }

    @Test(arguments: ["Count", "Join"])
    func `A message too large once inflated is RESOURCE_EXHAUSTED, malformed gzip INVALID_ARGUMENT or INTERNAL`(
        name: String
    )
        async throws
    {
        let bomb = try ConnectUnaryTests.gzipped([UInt8](repeating: 0, count: 1 << 20))
        let call = Call(name, Self.proto, body: Envelope(flags: 1, bomb).bytes).with([
            "connect-content-encoding": "gzip"
        ])
        #expect(try await end(call.answer()).contains("resource_exhausted"))
        let garbage = call.with { $0.body = Envelope(flags: 1, text: "x").bytes }
        #expect(try await end(garbage.answer()).contains(name == "Count" ? "invalid_argument" : "internal"))
    }
}
