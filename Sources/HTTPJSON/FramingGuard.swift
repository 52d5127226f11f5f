import HTTPTypes
import JOSE
import NIOCore
import NIOHTTP1

/// Stands between the HTTP/1.1 decoder and everything else, where a request still has its version and every Host.
///
/// A head with a ``FramingFault`` goes on marked with it, as a request without a body, so that it is answered in its turn;
/// whatever the connection brings after it is dropped. What the decoder itself refuses the server answers with a bare
/// 400: that becomes a problem like any other. States: passing; refused (after the first fault; there is no way back).
/// On its channel's event loop only.
final class FramingGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let makeRequestID: @Sendable () -> String
    private let observe: @Sendable (RequestOutcome) -> Void
    private var hasRefused = false
    private var decoderFault = FramingFault.malformed

    /// A guard of one connection.
    ///
    /// - Parameter observe: told of what the decoder refused; all else passes the middleware.
    init(makeRequestID: @escaping @Sendable () -> String, observe: @escaping @Sendable (RequestOutcome) -> Void) {
        self.makeRequestID = makeRequestID
        self.observe = observe
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let mark = HTTPField.Name.framingFault.rawName
        if head.headers.contains(name: mark) { head.headers.remove(name: mark) }
        // The server behind us looks for this one spelling, and does not know the version.
        if !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        let fault = FramingFault(head)
        if let fault { head.headers.add(name: mark, value: fault.rawValue) }
        context.fireChannelRead(wrapInboundOut(.head(head)))
        if fault != nil {
            hasRefused = true
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After a fault the decoder stumbles over what was framed by it; the answer is on its way.
        if hasRefused, error is HTTPParserError { return }
        if let error = error as? HTTPParserError, error == .headerOverflow { decoderFault = .headersTooLarge }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Every answer of the middleware has an id; one without is the server's own.
        guard case .head(let head) = unwrapOutboundIn(data), head.status == .badRequest,
            !head.headers.contains(name: HTTPField.Name.requestID.rawName)
        else { return context.write(data, promise: promise) }
        let problem = decoderFault.problem
        let body = ByteBuffer(bytes: problem.body.serialized())
        var fields = HTTPFields.ofEveryAnswer
        fields[.requestID] = makeRequestID()
        fields[.contentType] = "application/problem+json"
        fields[.contentLength] = String(body.readableBytes)
        fields[.cacheControl] = "no-store"
        fields[.connection] = "close"
        let status = HTTPResponseStatus(statusCode: problem.status.code)
        let answer = HTTPResponseHead(
            version: head.version,
            status: status,
            headers: HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
        )
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
        observe(RequestOutcome(method: "none", route: nil, status: problem.status.code, took: .zero))
    }
}

/// Puts the guard of a connection where Hummingbird lets nobody put a handler: right after the decoder.
final class FramingGuardInstaller: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let makeGuard: () -> FramingGuard

    init(_ makeGuard: @escaping () -> FramingGuard) { self.makeGuard = makeGuard }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            let pipeline = context.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(makeGuard(), position: .after(decoder))
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            // A pipeline without a decoder is none of ours: better no connection than one without a guard.
            context.close(promise: nil)
        }
    }
}
