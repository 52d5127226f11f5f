import HTTP
import HTTPTypes
import RPC
import RPCTransport
import SwiftProtobuf

/// Answers the calls of Connect (https://connectrpc.com/docs/protocol) and gRPC-Web (PROTOCOL-WEB) to a router's methods, over
/// any version of HTTP. Methods know nothing of it: they are the same that gRPC calls.
///
/// A unary method is called by Connect with `application/json` or `application/proto`, one that streams with
/// `application/connect+json` or `…+proto`, and each with gRPC-Web, binary or text. A method that streams both ways needs
/// HTTP/2 (505 else). Methods whose descriptor `allowsGet` are called by GET as well.
///
/// May be used by any number of event loops. Handlers run where their exchange runs.
public final class ConnectHandler: HTTPHandler {
    private let methods: PathTable
    private let services: Set<String>
    private let rules: CallRules

    /// - Parameters:
    ///   - router: the methods. A call passes the router's interceptors, whatever its protocol.
    ///   - limits: those of the server's connections. `messageBytesMax` holds for messages of requests, compressed and
    ///     inflated: longer ones end with RESOURCE_EXHAUSTED. A message of a stream must be whole in `messageTimeout`.
    ///   - detailTypes: messages that errors carry as details. Connect tells those in JSON too, for people.
    public init(
        _ router: Router,
        limits: ConnectionLimits = ConnectionLimits(),
        detailTypes: [any SwiftProtobuf.Message.Type] = []
    ) {
        methods = PathTable(router.methods)
        services = router.services
        rules = CallRules(limits, detailTypes: detailTypes)
    }

    /// Whether a request is a call, well formed or not: its path is that of a method, or of one that a known service has not,
    /// or its content type is one that only calls have.
    public func takes(_ head: HTTPRequestHead) -> Bool {
        if methods[head.target] != nil { return true }
        // What has no second slash is no path of a method: most routes are told apart here.
        if let service = Self.firstSegment(of: head.target), method(of: head) != nil || services.contains(service) {
            return true
        }
        guard head.method == .post else { return false }
        switch head.fields.first("content-type").flatMap(CallProtocol.init(text:))?.framing {
        case .connectStream, .grpcWeb, .grpcWebText: return true
        case .connectUnary, nil: return false
        }
    }

    /// What stands between a path's first two slashes; nil where it has no second one.
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

    /// Begins the call that an exchange carries, or answers that there is none.
    public func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? { begin(exchange, adding: Metadata()) }

    /// Answers with more fields in the head, which must be sendable: those of cross-origin requests, say.
    public func begin(_ exchange: HTTPExchange, adding fields: Metadata) -> (any HTTPBodyReceiver)? {
        switch request(exchange, exchange.head, adding: fields) {
        case .call(let call):
            call.begin()
            guard exchange.hasEnded else { return call }
            // Nothing of the body comes any more, which would start a handler.
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

    /// What a request is.
    private enum Taken {
        case call(ExchangeCall)
        /// Answers it, and says that no handler runs. `waitsForBody`: a short body is read first (`UnreadBody`); not where it may be
        /// a stream that waits for the answer.
        case refusal(() -> Void, waitsForBody: Bool)
    }

    private func method(of head: HTTPRequestHead) -> MethodHandler? {
        if let method = methods[head.target] { return method }
        guard head.target.utf8.contains(UInt8(ascii: "?")) else { return nil }
        return methods[String(head.path)]
    }

    /// Looks at a request's head.
    private func request(_ exchange: HTTPExchange, _ head: HTTPRequestHead, adding added: Metadata) -> Taken {
        // Made only for requests that are refused: it is most calls that pay for what stands here.
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

    /// Makes the call of a request. One whose head cannot be taken is refused in the words of its protocol.
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
