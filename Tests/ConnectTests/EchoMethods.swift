import API
import Connect
import HTTP
import HTTPTypes
import RPC
import RPCTransport
import SwiftProtobuf
import Testing

/// The methods that the tests call: one of each kind, and some that fail, wait or speak of metadata.
enum EchoMethods {
    /// An ordinary message with two texts.
    typealias Message = Google_Protobuf_Mixin

    static let service = "test.Echo"

    static func method(_ name: String, _ kind: CallKind = .unary, allowsGet: Bool = false) -> MethodDescriptor {
        MethodDescriptor(service: service, method: name, kind: kind, allowsGet: allowsGet)
    }

    static func message(_ name: String, root: String = "") -> Message {
        .with {
            $0.name = name
            $0.root = root
        }
    }

    static let router: Router = {
        var router = Router()
        router.unary(method("Echo")) { (request: Message, _) in request }
        router.unary(method("Get", allowsGet: true)) { (request: Message, _) in request }
        router.unary(method("Fail")) { (request: Message, context) -> Message in throw try error(request, context) }
        router.unary(method("Details")) { (request: Message, _) -> Message in
            throw RPCError.domain(
                .alreadyExists,
                reason: "NAME_TAKEN",
                message: request.name,
                retryAfter: .seconds(30)
            )
        }
        router.unary(method("Metadata")) { (request: Message, context) in try await tellMetadata(request, context) }
        router.unary(method("Wait")) { (request: Message, _) in
            try await Task.sleep(for: .seconds(5))
            return request
        }
        router.unary(method("Deadline")) { (_: Message, context) in
            let left = context.deadline.map { "\($0.remaining > .seconds(3))" }
            return message(left ?? "none")
        }
        router.unary(method("Compressed")) { (request: Message, context) in
            message("\(await context.compressResponses()) \(context.isRequestCompressed)", root: request.name)
        }
        addStreams(to: &router)
        return router
    }()

    private static func addStreams(to router: inout Router) {
        router.serverStreaming(method("Count", .serverStreaming)) {
            (request: Message, answers: MessageWriter<Message>, context) in
            if request.root == "gzip" { await context.compressResponses() }
            if request.root == "metadata" { _ = try await tellMetadata(request, context) }
            let count = request.name.first?.wholeNumberValue ?? 0
            for index in 0..<count {
                // One that compression makes shorter, if the request is so too, and others that it does not.
                let padding = index == 0 ? String(request.name.dropFirst()) : ""
                try await answers.write(message("\(index)", root: request.root == "gzip" ? padding : request.root))
            }
            if request.root == "fail" { throw RPCError(.dataLoss, "lost \"it\"") }
        }
        router.clientStreaming(method("Join", .clientStreaming)) { (requests: MessageReader<Message>, _) -> Message in
            var names: [String] = []
            for try await request in requests { names.append(request.name) }
            return message(names.joined(separator: " "))
        }
        router.bidirectionalStreaming(method("Each", .bidirectionalStreaming)) {
            (requests: MessageReader<Message>, answers: MessageWriter<Message>, _) in
            for try await request in requests { try await answers.write(request) }
        }
    }

    /// Fails with the code that the request's name tells the number of.
    private static func error(_ request: Message, _ context: ServerContext) throws -> RPCError {
        context.setTrailingMetadata(Metadata(["x-trailing": "t", "content-type": "text/html", "x bad": "b"]))
        return RPCError(Status.Code(wire: Int(request.name) ?? 2), request.root, metadata: Metadata(["x-error": "e"]))
    }

    /// Answers with the names of the fields that came, and sends metadata of both kinds.
    private static func tellMetadata(_ request: Message, _ context: ServerContext) async throws -> Message {
        try await context.sendInitialMetadata(Metadata(["x-initial": "one", "x-initial-bin": "AQI"]))
        context.setTrailingMetadata(Metadata(["x-trailing": "a", "x-trailing": "b"]))
        return message(context.metadata.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: ";"))
    }

    static let messageBytesMax = 10_000
    static let handler = handler(messageBytesMax: messageBytesMax)

    static func handler(messageBytesMax: Int) -> ConnectHandler {
        var limits = ConnectionLimits()
        limits.messageBytesMax = messageBytesMax
        return ConnectHandler(router, limits: limits, detailTypes: [GoogleRpc.ErrorInfo.self])
    }
}

/// What a client sends.
struct Call {
    var path: String
    var method = HTTPRequest.Method.post
    var contentType: String? = "application/json"
    var fields = Metadata()
    var body: [UInt8] = []
    var version = HTTPVersion.http2

    init(_ name: String, _ contentType: String? = "application/json", body: [UInt8] = []) {
        path = "/test.Echo/\(name)"
        self.contentType = contentType
        self.body = body
    }

    init(_ name: String, json: String) { self.init(name, body: Array(json.utf8)) }

    func with(_ change: (inout Call) -> Void) -> Call {
        var copy = self
        change(&copy)
        return copy
    }

    func with(_ fields: KeyValuePairs<String, String>) -> Call {
        with { $0.fields.add(contentsOf: Metadata(fields)) }
    }

    var head: HTTPRequestHead {
        var all = Metadata()
        if let contentType { all.add("content-type", contentType) }
        all.add(contentsOf: fields)
        return HTTPRequestHead(version: version, method: method, target: path, authority: "test", fields: all)
    }

    /// Sends the body in pieces of these sizes, and what is left as a last one.
    func answer(cut sizes: [Int] = [], failure: HTTPBodyFailure? = nil) async throws -> HTTPAnswer {
        var pieces: [[UInt8]] = []
        var rest = body[...]
        for size in sizes where !rest.isEmpty {
            pieces.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        if !rest.isEmpty { pieces.append(Array(rest)) }
        let answer = await InProcessExchange.answer(
            of: EchoMethods.handler,
            to: head,
            pieces: pieces.filter { !$0.isEmpty },
            failure: failure
        )
        return try #require(answer)
    }
}

extension HTTPAnswer {
    var text: String { String(decoding: body, as: UTF8.self) }
    var contentType: String? { fields.first("content-type") }
}

/// An envelope with its message.
struct Envelope: Equatable, CustomStringConvertible {
    var flags: UInt8
    var message: [UInt8]

    init(flags: UInt8 = 0, _ message: [UInt8]) {
        self.flags = flags
        self.message = message
    }

    init(flags: UInt8 = 0, text: String) { self.init(flags: flags, Array(text.utf8)) }

    init(name: String, root: String = "") throws {
        self.init(try EchoMethods.message(name, root: root).serializedBytes() as [UInt8])
    }

    var description: String { "\(flags):\(String(decoding: message, as: UTF8.self))" }

    var bytes: [UInt8] { [flags] + withUnsafeBytes(of: UInt32(message.count).bigEndian, Array.init) + message }

    /// Those that an answer is made of; nil if there is anything else in it.
    static func all(in body: [UInt8]) -> [Envelope]? {
        var rest = body[...]
        var found: [Envelope] = []
        while !rest.isEmpty {
            guard rest.count >= 5 else { return nil }
            let length = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 5 + length, let flags = rest.first else { return nil }
            found.append(Envelope(flags: flags, Array(rest.dropFirst(5).prefix(length))))
            rest = rest.dropFirst(5 + length)
        }
        return found
    }

    func decoded() throws -> EchoMethods.Message { try EchoMethods.Message(serializedBytes: message) }
}
