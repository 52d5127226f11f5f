import API
import Connect
import HTTP
import HTTPTypes
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// Unary calls of Connect, rule by rule (connectrpc.com/docs/protocol, "Unary (Request-Response) RPCs").
struct ConnectUnaryTests {
    @Test(arguments: ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""])
    func `JSON is answered with JSON`(contentType: String) async throws {
        let answer = try await Call("Echo", contentType, body: Array(#"{"name":"Grüße","unknown":[1,{}]}"#.utf8))
            .answer()
        #expect(answer.status == 200)
        #expect(answer.contentType == "application/json")
        #expect(answer.text == #"{"name":"Grüße"}"#)
        #expect(answer.trailers.isEmpty)
    }

    @Test func `Binary is answered with binary`() async throws {
        let message = EchoMethods.message("a", root: "b")
        let answer = try await Call("Echo", "application/proto", body: message.serializedBytes()).answer()
        #expect(answer.status == 200)
        #expect(answer.contentType == "application/proto")
        #expect(try EchoMethods.Message(serializedBytes: answer.body) == message)
    }

    @Test func `An empty body is an empty message in binary and none in JSON`() async throws {
        let binary = try await Call("Echo", "application/proto").answer()
        #expect(binary.status == 200)
        #expect(binary.body == [])
        let json = try await Call("Echo").answer()
        #expect(json.status == 400)
        #expect(json.text.hasPrefix(#"{"code":"invalid_argument""#))
    }

    @Test(arguments: ["[]", "null", "{", "{\"name\":1}", "{} {}", "\u{0}", "{\"name\":\"\\ud800\"}"])
    func `Malformed JSON of the message is INVALID_ARGUMENT`(body: String) async throws {
        let answer = try await Call("Echo", json: body).answer()
        #expect(answer.status == 400)
        #expect(answer.contentType == "application/json")
        #expect(answer.text.hasPrefix(#"{"code":"invalid_argument","message":""#))
    }

    @Test func `Malformed binary of the message is INVALID_ARGUMENT`() async throws {
        let answer = try await Call("Echo", "application/proto", body: [0xff, 0xff, 0xff]).answer()
        #expect(answer.status == 400)
        #expect(answer.contentType == "application/json")
    }

    @Test func `Arrays in arrays of an unknown field do no harm`() async throws {
        let depth = 1 << 21
        let text = #"{"u":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        let handler = EchoMethods.handler(messageBytesMax: 8 << 20)
        let answer = await InProcessExchange.answer(of: handler, to: Call("Echo").head, body: Array(text.utf8))
        #expect(answer?.status == 200 || answer?.status == 400)
    }

    static let statuses = [
        (1, 499, "canceled"), (2, 500, "unknown"), (3, 400, "invalid_argument"), (4, 504, "deadline_exceeded"),
        (5, 404, "not_found"), (6, 409, "already_exists"), (7, 403, "permission_denied"),
        (8, 429, "resource_exhausted"), (9, 400, "failed_precondition"), (10, 409, "aborted"),
        (11, 400, "out_of_range"),
        (12, 501, "unimplemented"), (13, 500, "internal"), (14, 503, "unavailable"), (15, 500, "data_loss"),
        (16, 401, "unauthenticated"),
    ]

    @Test(arguments: statuses, ["application/json", "application/proto"])
    func `Each code has its name and its HTTP status`(
        code: (number: Int, status: Int, name: String),
        contentType: String
    ) async throws {
        let request = EchoMethods.message("\(code.number)", root: "no \"way\"\n")
        let body: [UInt8] =
            contentType == "application/json" ? try request.jsonUTF8Bytes() : try request.serializedBytes()
        let answer = try await Call("Fail", contentType, body: body).answer()
        #expect(answer.status == code.status)
        #expect(answer.contentType == "application/json")
        #expect(answer.text == #"{"code":"\#(code.name)","message":"no \"way\"\n"}"#)
    }

    @Test func `An error without a message has a code alone`() async throws {
        #expect(try await Call("Fail", json: #"{"name":"5"}"#).answer().text == #"{"code":"not_found"}"#)
    }

    @Test func `Trailers are sent as fields of the head, except for forbidden ones`() async throws {
        let answer = try await Call("Fail", json: #"{"name":"5"}"#).answer()
        #expect(answer.fields.first("trailer-x-trailing") == "t")
        #expect(answer.fields.first("trailer-x-error") == "e")
        #expect(answer.fields.all("content-type") == ["application/json"])
        #expect(answer.fields.allSatisfy { !$0.name.contains(" ") && $0.name != "trailer-content-type" })
    }

    @Test func `Details come by their types' names, with JSON where the type is known`() async throws {
        let answer = try await Call("Details", json: #"{"name":"Taken."}"#).answer()
        #expect(answer.status == 409)
        let info =
            try GoogleRpc.ErrorInfo.with {
                $0.reason = "NAME_TAKEN"
                $0.domain = "vestibule"
            }.serializedBytes() as [UInt8]
        let retry: [UInt8] = try GoogleRpc.RetryInfo.with { $0.retryDelay.seconds = 30 }.serializedBytes()
        let text = { (bytes: [UInt8]) in String(decoding: Base64.encode(bytes), as: UTF8.self) }
        #expect(
            answer.text == #"{"code":"already_exists","message":"Taken.","details":["#
                + #"{"type":"google.rpc.ErrorInfo","value":"\#(text(info))","#
                + #""debug":{"reason":"NAME_TAKEN","domain":"vestibule"}},"#
                + #"{"type":"google.rpc.RetryInfo","value":"\#(text(retry))"}]}"#
        )
    }

    @Test func `Metadata goes both ways, without the protocol's own fields`() async throws {
        let call = Call("Metadata", json: "{}").with([
            "connect-protocol-version": "1", "connect-timeout-ms": "60000", "connect-anything": "x", "accept": "*/*",
            "accept-encoding": "br", "x-one": "1", "user-agent": "test", "x-two-bin": "AQI=", "grpc-timeout": "1n",
        ])
        let answer = try await call.answer()
        #expect(answer.text == #"{"name":"user-agent=test;x-one=1;x-two-bin=AQI="}"#)
        #expect(answer.fields.first("x-initial") == "one")
        #expect(answer.fields.firstBinary("x-initial-bin") == [1, 2])
        #expect(answer.fields.all("trailer-x-trailing") == ["a", "b"])
    }

    @Test(arguments: [("1", 200), ("2", 400), ("", 400), ("one", 400)])
    func `The protocol's version must be 1 if it is given`(version: String, status: Int) async throws {
        #expect(
            try await Call("Echo", json: "{}").with(["connect-protocol-version": version]).answer().status == status
        )
    }

    // MARK: Deadlines

    @Test(arguments: ["9999999999", "5000", "0000005000"])
    func `A timeout is the handler's deadline`(timeout: String) async throws {
        let answer = try await Call("Deadline", json: "{}").with(["connect-timeout-ms": timeout]).answer()
        #expect(answer.text == #"{"name":"true"}"#)
    }

    @Test func `Without a timeout there is no deadline`() async throws {
        #expect(try await Call("Deadline", json: "{}").answer().text == #"{"name":"none"}"#)
    }

    @Test(arguments: ["12345678901", "", "-1", "1.5", "+5", "5s", " 5", "٥"])
    func `A malformed timeout is INVALID_ARGUMENT`(timeout: String) async throws {
        let answer = try await Call("Deadline", json: "{}").with(["connect-timeout-ms": timeout]).answer()
        #expect(answer.status == 400)
        #expect(answer.text.contains("Connect-Timeout-Ms"))
    }

    @Test(arguments: ["0", "20"])
    func `A call ends at its deadline`(timeout: String) async throws {
        let answer = try await Call("Wait", json: "{}").with(["connect-timeout-ms": timeout]).answer()
        #expect(answer.status == 504)
        #expect(answer.text == #"{"code":"deadline_exceeded","message":"the deadline passed"}"#)
    }

    @Test func `A client that leaves cancels the handler`() async throws {
        let call = Call("Wait", json: "{}")
        let task = Task { await InProcessExchange.answer(of: EchoMethods.handler, to: call.head, body: call.body) }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        #expect(await task.value == nil)
    }

    // MARK: Compression

    static func gzipped(_ bytes: [UInt8]) throws -> [UInt8] {
        try #require(Gzip.deflate(MessageBuffer(bytes))).withUnsafeBytes { Array($0) }
    }

    static let long = String(repeating: "long ", count: 300)

    @Test func `A compressed request is inflated, and its coding is accepted for the answer by default`() async throws {
        let body = try Self.gzipped(Array(#"{"name":"\#(Self.long)"}"#.utf8))
        let answer = try await Call("Compressed", body: body).with(["content-encoding": "gzip"]).answer()
        #expect(answer.status == 200)
        #expect(answer.fields.first("content-encoding") == "gzip")
        let plain = try answer.body.withUnsafeBytes { try Gzip.inflate($0, byteCountMax: 1 << 20) }
        #expect(String(decoding: plain, as: UTF8.self) == #"{"name":"true true","root":"\#(Self.long)"}"#)
    }

    @Test(arguments: [
        ("gzip", true), ("br, gzip", true), ("gzip;q=0.5", true), ("gzip;q=0", false), ("gzip; q=0.000", false),
        ("identity", false), ("br", false), ("gzipped", false),
    ])
    func `An answer is compressed if the handler requests it and the client accepts it`(list: String, accepts: Bool)
        async throws
    {
        let answer = try await Call("Compressed", json: #"{"name":"\#(Self.long)"}"#).with(["accept-encoding": list])
            .answer()
        #expect((answer.fields.first("content-encoding") == "gzip") == accepts)
        if !accepts { #expect(answer.text.hasPrefix(#"{"name":"false false""#)) }
    }

    @Test func `An empty body is not inflated`() async throws {
        let answer = try await Call("Echo", "application/proto").with(["content-encoding": "gzip"]).answer()
        #expect(answer.status == 200)
    }

    @Test func `An unknown compression is UNIMPLEMENTED, and the error lists the known ones`() async throws {
        let answer = try await Call("Echo", json: "{}").with(["content-encoding": "br"]).answer()
        #expect(answer.status == 501)
        #expect(answer.text.contains("gzip"))
    }

    @Test func `Malformed gzip, and a message too large once inflated, are refused`() async throws {
        let garbage = try await Call("Echo", json: "{}").with(["content-encoding": "gzip"]).answer()
        #expect(garbage.status == 400)
        let bomb = try Self.gzipped([UInt8](repeating: 0x20, count: 1 << 20))
        #expect(bomb.count < EchoMethods.messageBytesMax)
        let answer = try await Call("Echo", body: bomb).with(["content-encoding": "gzip"]).answer()
        #expect(answer.status == 429)
        #expect(answer.text.contains("resource_exhausted"))
    }

    // MARK: Requests that are no calls

    @Test(arguments: [
        nil, "text/plain", "application/xml", "application/connect+json", "application/json; charset=latin1",
        "application/grpc", "application/grpc+proto", "multipart/form-data; boundary=x",
    ])
    func `Any other content type is 415, with the supported ones`(contentType: String?) async throws {
        let answer = try await Call("Echo", contentType, body: [1]).answer()
        #expect(answer.status == 415)
        let types = try #require(answer.fields.first("accept-post")).split(separator: ", ")
        #expect(types.contains("application/json") && types.contains("application/proto"))
        #expect(types.contains("application/grpc-web-text") && !types.contains("application/connect+json"))
    }

    @Test(arguments: [HTTPRequest.Method.get, .put, .delete, .head, .options, .patch])
    func `Any other HTTP method is 405, with the supported one`(method: HTTPRequest.Method) async throws {
        let answer = try await Call("Echo", json: "{}").with { $0.method = method }.answer()
        #expect(answer.status == 405)
        #expect(answer.fields.first("allow") == "POST")
    }

    @Test(arguments: ["/test.Echo/None", "/test.Echo/echo", "/test.None/Echo", "/test.Echo", "/", "/a/b/c"])
    func `An unknown method is 404`(path: String) async throws {
        let answer = try await Call("Echo", json: "{}").with { $0.path = path }.answer()
        #expect(answer.status == 404)
        #expect(answer.text == #"{"code":"unimplemented","message":"unknown method \#(path)"}"#)
    }

    @Test func `A message over the limit is refused, in any pieces`() async throws {
        let body = Array(#"{"name":"\#(String(repeating: "a", count: EchoMethods.messageBytesMax))"}"#.utf8)
        #expect(try await Call("Echo", body: body).answer(cut: [5000]).status == 429)
        var head = Call("Echo").head
        head.contentLength = body.count
        let told = await InProcessExchange.answer(of: EchoMethods.handler, to: head, body: body)
        #expect(told?.status == 429)
        let fits = #"{"name":"\#(String(repeating: "a", count: EchoMethods.messageBytesMax - 11))"}"#
        #expect(fits.utf8.count == EchoMethods.messageBytesMax)
        #expect(try await Call("Echo", json: fits).answer(cut: [5000]).status == 200)
    }

    @Test func `A body that is aborted or malformed is an error`() async throws {
        let call = Call("Echo", json: #"{"name":"#)
        #expect(try await call.answer(failure: .malformed).status == 400)
        #expect(try await call.answer(failure: .timeout).status == 504)
    }

    @Test(arguments: HTTPError.allCases)
    func `A malformed request gets the status of its error`(fault: HTTPError) async {
        var head = Call("Echo").head
        head.fault = fault
        let answer = await InProcessExchange.answer(of: EchoMethods.handler, to: head)
        #expect(answer?.status == fault.status)
        #expect(fault.status >= 400)
    }

    @Test(arguments: [
        ("/test.Echo/Echo", true), ("/test.Echo/Echo?x", true), ("/test.Echo/None", true), ("/test.Echo", false),
        ("/", false), ("/me", false), ("/other.Echo/Echo", false), ("*", false), ("/test.Echo/a/b", true),
    ])
    func `A request is recognized by its path`(target: String, takes: Bool) {
        for method in [HTTPRequest.Method.get, .post] {
            #expect(EchoMethods.handler.takes(HTTPRequestHead(method: method, target: target)) == takes)
        }
    }

    @Test(arguments: [("application/grpc-web", true), ("application/connect+json", true), ("application/json", false)])
    func `A request is recognized by a content type that only calls have`(contentType: String, takes: Bool) {
        let fields = Metadata(["content-type": contentType])
        let head = HTTPRequestHead(method: .post, target: "/other.Echo/Echo", fields: fields)
        #expect(EchoMethods.handler.takes(head) == takes)
    }

    @Test func `Fields may be added to every answer`() async {
        let added = Metadata(["access-control-allow-origin": "https://app.test"])
        struct Adding: HTTPHandler {
            let added: Metadata
            func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
                EchoMethods.handler.begin(exchange, adding: added)
            }
        }
        for call in [
            Call("Echo", json: "{}"), Call("Fail", json: "{}"), Call("None", json: "{}"), Call("Echo", "text/plain"),
            Call("Count", "application/connect+json", body: Envelope(text: "{}").bytes),
            Call("None", "application/grpc-web"),
            Call("Count", "application/connect+json"), Call("Echo", "application/grpc-web", body: [0, 0, 0, 0, 0]),
        ] {
            let answer = await InProcessExchange.answer(of: Adding(added: added), to: call.head, body: call.body)
            #expect(answer?.fields.first("access-control-allow-origin") == "https://app.test")
        }
    }
}
