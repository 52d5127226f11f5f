import HTTP
import HTTPTypes
import RPC
import RPCTransport
import SwiftProtobuf

/// Handles calls of Connect (https://connectrpc.com/docs/protocol) and gRPC-Web (PROTOCOL-WEB) to a router's methods, over any
/// version of HTTP. The methods are the same as for gRPC, and don't depend on the protocol.
///
/// Connect calls a unary method with `application/json` or `application/proto`, and a streaming method with
/// `application/connect+json` or `…+proto`. gRPC-Web, binary or text, calls both. A bidirectional stream needs HTTP/2 (505
/// otherwise). Methods whose descriptor `allowsGet` can be called by GET as well.
///
/// May be used by any number of event loops. Handlers run where their exchange runs.
public final class ConnectHandler: HTTPHandler {
    private let methods: PathTable
    private let services: Set<String>
    private let rules: CallRules

    /// - Parameters:
    ///   - router: the methods. Calls of all protocols pass the router's interceptors.
    ///   - limits: the limits of the server's connections. `messageBytesMax` is for messages of requests, compressed and
    ///     inflated: longer ones end with RESOURCE_EXHAUSTED. A message of a stream must be complete in `messageTimeout`.
    ///   - detailTypes: the messages that errors have as details. Connect also sends these as JSON, for people.
    public init(
        _ router: Router,
        limits: ConnectionLimits = ConnectionLimits(),
        detailTypes: [any SwiftProtobuf.Message.Type] = []
    ) {
        methods = PathTable(router.methods)
        services = router.services
        rules = CallRules(limits, detailTypes: detailTypes)
    }

    /// Whether a request is a call, even a malformed one: its path is that of a method, or of an unknown method of a known
    /// service, or only calls have its content type.
    public func takes(_ head: HTTPRequestHead) -> Bool {
        if methods[head.target] != nil { return true }
        // A path without a second slash is not a method's: that decides it for most routes.
        if let service = Self.firstSegment(of: head.target), method(of: head) != nil || services.contains(service) {
            return true
        }
        guard head.method == .post else { return false }
        switch head.fields.first("content-type").flatMap(CallProtocol.init(text:))?.framing {
        case .connectStream, .grpcWeb, .grpcWebText: return true
        case .connectUnary, nil: return false
        }
    }

    /// The part between a path's first two slashes; nil if it has no second slash.
    private static func firstSegment(of target: String) -> String? {
        var target = target
        return target.withUTF8 { bytes in
            for index in 1..<max(1, bytes.count) {
                if bytes[index] == UInt8(ascii: "?") { return nil }
                if bytes[index] == UInt8(ascii: "/") { return String(decoding: bytes[1..<index], as: UTF8.self) }
            }
            return nil
        }
    }

    /// Begins the call of an exchange, or responds that there is no such call.
    public func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? { begin(exchange, adding: Metadata()) }

    /// The same with additional, sendable fields in the response's head, for example those for cross-origin requests.
    public func begin(_ exchange: HTTPExchange, adding fields: Metadata) -> (any HTTPBodyReceiver)? {
        switch request(exchange, exchange.head, adding: fields) {
        case .call(let call):
            call.begin()
            guard exchange.hasEnded else { return call }
            // No more of the body arrives, which would start a handler.
            call.giveUp()
            return nil
        case .refusal(let refuse, let waitsForBody):
            let length = exchange.head.contentLength ?? 0
            if waitsForBody, exchange.head.hasBody, length <= UnreadBody.byteCountMax {
                return UnreadBody(exchange, answer: refuse)
            }
            refuse()
            return nil
        }
    }

    /// The kind of a request.
    private enum Taken {
        case call(ExchangeCall)
        /// Rejects it, and reports that no handler runs. `waitsForBody`: a short body is read first (`UnreadBody`); false if the
        /// body may be a stream that waits for the response.
        case refusal(() -> Void, waitsForBody: Bool)
    }

    private func method(of head: HTTPRequestHead) -> MethodHandler? {
        if let method = methods[head.target] { return method }
        guard head.target.utf8.contains(UInt8(ascii: "?")) else { return nil }
        return methods[String(head.path)]
    }

    /// Decides by a request's head.
    private func request(_ exchange: HTTPExchange, _ head: HTTPRequestHead, adding added: Metadata) -> Taken {
        // Made only for rejected requests, since most calls would pay for it here.
        func makeRefusal() -> Refusal { Refusal(exchange: exchange, addedFields: added, rules: rules) }
        if let fault = head.fault {
            let refusal = makeRefusal()
            return .refusal({ refusal.plain(fault.status) }, waitsForBody: false)
        }
        let fields = RequestFields(head.fields)
        let method = method(of: head)
        exchange.callBegan(method?.descriptor)
        let isUnary = fields.callProtocol?.framing == .connectUnary || fields.callProtocol == nil
        func plain(_ status: Int, _ fields: KeyValuePairs<String, String> = [:]) -> Taken {
            let refusal = makeRefusal()
            return .refusal({ refusal.plain(status, fields) }, waitsForBody: isUnary)
        }
        guard let method else {
            let (refusal, callProtocol) = (makeRefusal(), fields.callProtocol)
            return .refusal({ refusal.unknownMethod(callProtocol) }, waitsForBody: isUnary)
        }
        let kind = method.descriptor.kind
        if kind == .bidirectionalStreaming, head.version != .http2 { return plain(505) }
        var callProtocol = fields.callProtocol
        var query: GetQuery?
        switch head.method {
        case .post: break
        case .get where method.descriptor.allowsGet && !head.hasBody:
            guard let said = GetQuery(head.query) else { return plain(400) }
            query = said
            callProtocol = CallProtocol.ofQuery(said.encoding)
        default: return plain(405, ["allow": method.descriptor.allowsGet ? "GET, POST" : "POST"])
        }
        guard let callProtocol, callProtocol.carries(kind) else {
            return plain(415, ["accept-post": CallProtocol.acceptable(for: kind)])
        }
        return Self.call(
            ExchangeCall.Request(
                exchange: exchange,
                handler: method,
                callProtocol: callProtocol,
                fields: fields,
                query: query,
                addedFields: added,
                rules: rules
            )
        )
    }

    /// Makes the call of a request. A request with an invalid head is rejected in the format of its protocol.
    private static func call(_ request: borrowing ExchangeCall.Request) -> Taken {
        do {
            let deadline = try request.deadline()
            return .call(call(request, deadline, try request.compression()))
        } catch {
            let refused = call(request, nil, Compression())
            let isUnary = request.callProtocol.framing == .connectUnary
            return .refusal({ refused.refuse(error) }, waitsForBody: isUnary)
        }
    }

    private static func call(
        _ request: borrowing ExchangeCall.Request,
        _ deadline: Deadline?,
        _ compression: Compression
    ) -> ExchangeCall {
        switch request.callProtocol.framing {
        case .connectUnary: ConnectUnaryCall(request, deadline, compression)
        case .connectStream: ConnectStreamCall(request, deadline, compression, isText: false)
        case .grpcWeb, .grpcWebText: GRPCWebCall(request, deadline, compression)
        }
    }
}
