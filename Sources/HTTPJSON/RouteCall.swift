import HTTP
import HTTPTypes
import Logging
import RPC
import Synchronization
import Tracing

/// A request on its way through a ``RouteHandler``. One object a request: what it holds is set before the route's handler begins,
/// but for the body, which comes meanwhile.
///
/// States: begun → (answered at once) or (its route runs → answered) → ended.
final class RouteCall: HTTPBodyReceiver, @unchecked Sendable {
    // Sound because what changes is the body, which a lock guards, and what `begin` writes before it hands the call to its task.

    let handler: RouteHandler
    let exchange: HTTPExchange
    let start: Deadline
    let deadline: Deadline
    let requestID: String
    /// Nil where the request has none.
    let body: RequestBody?
    private(set) var trace: TraceContext
    private(set) var match: RouteTable.Match?
    /// The place of the route that answers; nil if there is none.
    private(set) var route: Int?
    private var span: (any Span)?
    private let hasEnded = Atomic(false)

    /// A call that has not begun.
    init(of exchange: HTTPExchange, _ handler: RouteHandler) {
        self.handler = handler
        self.exchange = exchange
        start = .now()
        deadline = start.advanced(by: handler.configuration.limits.requestTimeout)
        body = exchange.head.hasBody ? RequestBody() : nil
        let fields = exchange.head.fields
        requestID = RequestName.sane(fields.first("x-request-id")) ?? handler.configuration.makeRequestID()
        trace = TraceContext(fields) ?? .root()
    }

    /// The request, as routes read it.
    var request: Request { Request(exchange) }

    /// Answers the request, or has its route do so. Whether somebody may ask for the body.
    func begin() -> Bool {
        lookUp()
        beginSpan()
        let entry: RouteHandler.Entry
        do {
            if let answer = try atOnce() {
                conclude(answer, problem: nil)
                return false
            }
            entry = try self.entry()
        } catch {
            fail(error)
            return false
        }
        run(entry)
        return body != nil
    }

    /// Finds the path's endpoint and the method's route.
    private func lookUp() {
        guard exchange.head.fault == nil else { return }
        match = withPath { handler.table.match($0) }
        route = match.flatMap { handler.table.endpoints[$0.endpoint].route(exchange.head.method) }
    }

    /// The path's bytes, without one slash at the end where that may be there.
    private func withPath<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let takesSlash = handler.configuration.takesTrailingSlash
        func path(_ target: UnsafeBufferPointer<UInt8>) -> Result {
            var count = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
            if takesSlash, count > 1, target[count - 1] == UInt8(ascii: "/") { count -= 1 }
            return body(UnsafeBufferPointer(rebasing: target[..<count]))
        }
        var target = exchange.head.target
        return target.withUTF8(path)
    }

    /// The answer that needs no route; nil where a route is to answer.
    private func atOnce() throws -> Response? {
        if let fault = exchange.head.fault { throw fault.problem }
        try handler.admit(request, RouteContext(self))
        // A path without variables is one that was declared.
        guard match?.values.isEmpty ?? false || withPath(RequestPath.isPlain) else { throw Problem.routeNotFound }
        guard let rule = handler.configuration.crossOrigin, CrossOrigin.isPreflight(request),
            rule.origin(of: request.headers) != nil
        else { return nil }
        let methods =
            match.map { handler.table.endpoints[$0.endpoint].methodsForOtherOrigins }
            ?? handler.configuration.methodsOfCalls(exchange.head)
        return methods.isEmpty ? nil : rule.preflightAnswer(methods: methods)
    }

    private func entry() throws(Problem) -> RouteHandler.Entry {
        guard let match else { throw .routeNotFound }
        guard let route else { throw .methodNotAllowed(handler.table.endpoints[match.endpoint].methods) }
        return handler.entries[route]
    }

    // MARK: The route

    /// Runs the route's handler: here and now up to its first suspension, then on the exchange's executor.
    private func run(_ entry: RouteHandler.Entry) {
        let handle = entry.route.handler
        // The handler is the first thing in its task: what stands before it, or around it, makes the runtime look for the
        // executor once more.
        let task =
            if let span {
                Task.immediate(executorPreference: exchange.executor) {
                    do {
                        let response = try await ServiceContext.$current.withValue(span.context) {
                            try await handle(self.request, RouteContext(self))
                        }
                        await self.answer(response)
                    } catch {
                        self.fail(error)
                    }
                }
            } else {
                Task.immediate(executorPreference: exchange.executor) {
                    do {
                        let response = try await handle(self.request, RouteContext(self))
                        if response.body.stream == nil {
                            self.conclude(response, problem: nil)
                        } else {
                            await self.answer(response)
                        }
                    } catch {
                        self.fail(error)
                    }
                }
            }
        if !hasEnded.load(ordering: .relaxed) { exchange.didStart(task) }
    }

    /// Sends an answer whose body may be a stream.
    private func answer(_ response: Response) async {
        guard let stream = response.body.stream, exchange.head.method != .head else {
            return conclude(response, problem: nil)
        }
        let fields = packed(response)
        if exchange.sendHead(status: response.status.code, fields: fields, contentLength: nil) {
            do {
                try await stream(EventStream(exchange))
                exchange.finish(trailers: Metadata())
            } catch {
                // The head is gone: the end of the exchange is all that can still be told. A client that went away is no news.
                if !exchange.hasEnded { note(handler.problem(for: error)) }
                exchange.reset()
            }
        }
        end(status: response.status.code, code: nil)
    }

    private func fail(_ error: any Error) {
        let problem = handler.problem(for: error)
        note(problem)
        conclude(handler.render(problem, request), problem: problem)
    }

    // MARK: The answer

    private func packed(_ response: Response) -> Metadata {
        let rule = handler.configuration.crossOrigin
        let isClosed = route.map { handler.entries[$0].isClosed } ?? false
        return handler.fields.packed(
            response,
            requestID: requestID,
            origin: rule?.answer(to: request.headers, isClosed: isClosed)
        )
    }

    /// Sends a whole answer and ends the call.
    private func conclude(_ response: Response, problem: Problem?) {
        let status = response.status.code
        if problem?.closesConnection ?? response.closesConnection || status >= 400 && leavesBody {
            exchange.closeAfterAnswer()
        }
        let fields = packed(response)
        response.body.bytes.withUnsafeBytes { exchange.respond(status: status, fields: fields, body: $0) }
        end(status: status, code: problem?.code)
    }

    /// Whether an error leaves a body behind that is not worth reading to its end.
    private var leavesBody: Bool {
        guard let body else { return false }
        let isLong = exchange.head.contentLength.map { $0 > handler.configuration.limits.bodyBytesMax } ?? true
        return isLong && !body.isWhole
    }

    private func end(status: Int, code: String?) {
        let took = Deadline.now().nanoseconds &- start.nanoseconds
        let method = exchange.head.method.rawValue
        let isKnown = method.utf8.count <= RequestLine.methodBytesMax
        handler.log.write(
            RequestLine(
                method: method.isEmpty ? "none" : isKnown ? method : String(method.prefix(RequestLine.methodBytesMax)),
                route: route.map { handler.entries[$0].route.path },
                status: status,
                code: code,
                microseconds: Int64(clamping: took / 1000),
                requestID: requestID,
                traceID: trace.traceID
            )
        )
        handler.observe(RequestOutcome(method: method, route: route, status: status, tookNanoseconds: took))
        if let span { endSpan(span, status: status) }
        hasEnded.store(true, ordering: .relaxed)
        exchange.handlerEnded()
    }

    /// A logger whose lines have the request's id and trace.
    var logger: Logger {
        var logger = handler.logger
        logger[metadataKey: "request_id"] = .string(requestID)
        logger[metadataKey: "trace"] = .string(trace.traceID)
        return logger
    }

    private func note(_ problem: Problem) {
        guard let cause = problem.cause else { return }
        let level: Logger.Level = problem.status.code >= 500 ? .error : .debug
        guard handler.logger.logLevel <= level else { return }
        logger.log(level: level, "request failed", metadata: ["code": "\(problem.code)", "cause": "\(cause)"])
    }

    // MARK: The body

    func receive(_ bytes: UnsafeRawBufferPointer) {
        let isKept = body?.append(bytes, bytesMax: handler.configuration.limits.bodyBytesMax) ?? false
        if !exchange.consume(byteCount: bytes.count, keeps: isKept) { body?.end(.tooLarge) }
    }

    func receiveEnd(_ failure: HTTPBodyFailure?) {
        switch failure {
        case nil: body?.end(.whole)
        case .malformed: body?.end(.malformed)
        case .timeout: body?.end(.late)
        case .ended: body?.end(.gone)
        }
    }

    // None is set: the transport bounds the body's time.
    func deadlinePassed() {}

    // MARK: The span

    private func beginSpan() {
        guard let tracer = handler.configuration.tracer, !RouteSpan.isUntraced(exchange.head) else { return }
        let span = RouteSpan.begin(tracer, exchange.head)
        self.span = span
        // So that the log names the trace, also where it begins here.
        if let begun = RouteSpan.trace(of: span, tracer) { trace = begun }
    }

    private func endSpan(_ span: any Span, status: Int) {
        RouteSpan.end(
            span,
            exchange.head,
            scheme: exchange.peer.isEncrypted ? "https" : "http",
            route: route.map { handler.entries[$0].route.path },
            status: status
        )
    }
}

extension RouteHandler {
    /// The problem for whatever was thrown.
    func problem(for error: any Error) -> Problem { error as? Problem ?? translate(error) }
}
