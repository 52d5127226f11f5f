import HTTP
import HTTPTypes
import Logging
import RPC
import RPCTransport
import Synchronization
import Tracing

/// A request on its way through a ``RouteHandler``. One object a request, whose only change is the body, which comes meanwhile.
///
/// States: begun → (answered at once) or (its route runs → answered) → ended.
final class RouteCall: HTTPBodyReceiver {
    let handler: RouteHandler
    let exchange: HTTPExchange
    let start: Deadline
    let deadline: Deadline
    let requestID: String
    /// Nil where the request has none.
    let body: RequestBody?
    let trace: TraceContext
    let match: RouteTable.Match?
    /// The route that answers; nil if there is none.
    let entry: RouteHandler.Entry?
    private let span: RouteSpan?
    private let hasEnded = Atomic(false)

    /// A call whose route is found and whose span has begun.
    init(of exchange: HTTPExchange, _ handler: RouteHandler) {
        self.handler = handler
        self.exchange = exchange
        start = .now()
        deadline = start.advanced(byNanoseconds: handler.requestNanoseconds)
        body = exchange.head.hasBody ? RequestBody() : nil
        requestID =
            RequestName.sane(exchange.head.fields.first("x-request-id")) ?? handler.configuration.makeRequestID()
        match = exchange.head.fault == nil ? Self.withPath(exchange, handler) { handler.table.match($0) } : nil
        entry = match.flatMap { match in
            handler.table.route(of: match, exchange.head.method).map { handler.entries[$0] }
        }
        span = handler.isTraced ? handler.configuration.tracer.flatMap { RouteSpan($0, exchange.head) } : nil
        // The span's, so that the log names the trace, also where it begins here.
        trace = span?.trace ?? TraceContext(exchange.head.fields) ?? .root()
    }

    /// The request, as routes read it.
    var request: Request { Request(exchange) }

    /// Answers the request, or has its route do so. Whether somebody may ask for the body.
    func begin() -> Bool {
        do {
            if let answer = try atOnce() {
                conclude(answer, problem: nil)
                return false
            }
            let entry = try foundEntry()
            switch entry.route.answering {
            case .inTask(let handle): run(handle)
            case .atOnce(let handle): try answerAtOnce(handle)
            }
            return body != nil
        } catch {
            fail(error)
            return false
        }
    }

    /// The path's bytes, without one slash at the end where that may be there.
    private static func withPath<Result>(
        _ exchange: HTTPExchange,
        _ handler: RouteHandler,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        let takesSlash = handler.configuration.takesTrailingSlash
        var target = exchange.head.target
        return target.withUTF8 { target in
            var count = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
            if takesSlash, count > 1, target[count - 1] == UInt8(ascii: "/") { count -= 1 }
            return body(UnsafeBufferPointer(rebasing: target[..<count]))
        }
    }

    /// The answer that needs no route; nil where a route is to answer.
    private func atOnce() throws -> Response? {
        if let fault = exchange.head.fault { throw fault.problem }
        try handler.admit(request, RouteContext(self))
        guard exchange.head.isMethodKnown else { throw Problem.methodUnknown }
        // A path without variables is one that was declared.
        guard match?.values.isEmpty ?? false || Self.withPath(exchange, handler, RequestPath.isPlain) else {
            throw Problem.routeNotFound
        }
        guard CrossOrigin.isPreflight(request) else { return nil }
        guard let rule = handler.configuration.crossOrigin, rule.origin(of: request.headers) != nil else {
            explainRefusedPreflight()
            return nil
        }
        let methods =
            match.map { handler.table.endpoints[$0.endpoint].methodsForOtherOrigins }
            ?? handler.configuration.methodsOfCalls(exchange.head)
        return methods.isEmpty ? nil : rule.preflightAnswer(methods: methods)
    }

    private func explainRefusedPreflight() {
        guard let setting = handler.configuration.crossOriginSetting, let origin = request.headers[.origin],
            CrossOrigin.isOrigin(origin)
        else { return }
        logger.warning("pages of this origin may not call; add it to \(setting)", metadata: ["origin": "\(origin)"])
    }

    private func foundEntry() throws(Problem) -> RouteHandler.Entry {
        if let entry {
            if let until = entry.suspendedUntil, !until.hasPassed {
                throw handler.configuration.suspensionProblem(until.remaining)
            }
            return entry
        }
        guard let match else { throw .routeNotFound }
        throw .methodNotAllowed(handler.table.endpoints[match.endpoint].methods)
    }

    // MARK: The route

    /// Answers by a handler that waits for nothing.
    private func answerAtOnce(_ handle: Route.ImmediateHandler) throws {
        let context = RouteContext(self)
        let inFlight = noted()
        defer { inFlight.end() }
        let response =
            if let span {
                try ServiceContext.$current.withValue(span.context) { try handle(request, context) }
            } else {
                try handle(request, context)
            }
        guard response.body.stream != nil else { return conclude(response, problem: nil) }
        keep(Task.immediate(executorPreference: exchange.executor) { await self.answer(response) })
    }

    /// Runs the route's handler: here and now up to its first suspension, then on the exchange's executor.
    private func run(_ handle: @escaping Route.Handler) {
        // The handler is the first thing in its task: what stands before it, or around it, makes the runtime look for the
        // executor once more.
        let task =
            if let span {
                Task.immediate(executorPreference: exchange.executor) {
                    let inFlight = self.noted()
                    do {
                        let response = try await ServiceContext.$current.withValue(span.context) {
                            try await handle(self.request, RouteContext(self))
                        }
                        inFlight.end()
                        await self.answer(response)
                    } catch {
                        inFlight.end()
                        self.fail(error)
                    }
                }
            } else {
                Task.immediate(executorPreference: exchange.executor) {
                    let inFlight = self.noted()
                    do {
                        let response = try await handle(self.request, RouteContext(self))
                        inFlight.end()
                        if response.body.stream == nil {
                            self.conclude(response, problem: nil)
                        } else {
                            await self.answer(response)
                        }
                    } catch {
                        inFlight.end()
                        self.fail(error)
                    }
                }
            }
        keep(task)
    }

    /// The request, noted for a report of a crash.
    private func noted(isStream: Bool = false) -> CallInFlight {
        CallInFlight(entry?.name ?? "", requestID: requestID, isStream: isStream)
    }

    /// Lets the exchange cancel a task that has not ended yet.
    private func keep(_ task: Task<Void, Never>) {
        if !hasEnded.load(ordering: .relaxed) { exchange.didStart(task) }
    }

    /// Sends an answer whose body may be a stream.
    private func answer(_ response: Response) async {
        guard let stream = response.body.stream, exchange.head.method != .head else {
            return conclude(response, problem: nil)
        }
        let fields = packed(response)
        // What follows lasts for as long as the client wants.
        let began = Deadline.now()
        let inFlight = noted(isStream: true)
        defer { inFlight.end() }
        if exchange.sendHead(status: response.status.code, fields: fields, contentLength: nil) {
            do {
                try await stream(EventStream(exchange))
                exchange.finish(trailers: Metadata())
            } catch {
                // The head is gone: only the end of the exchange can still be sent. A client that disconnected is not logged.
                if !exchange.hasEnded { note(handler.problem(for: error)) }
                exchange.reset()
            }
        }
        end(status: response.status.code, code: nil, answered: began)
    }

    private func fail(_ error: any Error) {
        let problem = handler.problem(for: error)
        note(problem)
        conclude(handler.render(problem, request), problem: problem)
    }

    // MARK: The answer

    private func packed(_ response: Response) -> Metadata {
        let origin = handler.configuration.crossOrigin?.answer(to: request.headers, isClosed: entry?.isClosed ?? false)
        var fields = handler.fields.packed(response, requestID: requestID, origin: origin)
        if let field = handler.configuration.answerField(request.headers) {
            fields.add(field.name.canonicalName, field.value)
        }
        return fields
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

    /// The largest body that the route takes, in bytes.
    var bodyBytesMax: Int { entry?.route.bodyBytesMax ?? handler.configuration.limits.bodyBytesMax }

    /// Whether an error leaves a body behind that is not worth reading to its end.
    private var leavesBody: Bool {
        guard let body else { return false }
        let isLong = exchange.head.contentLength.map { $0 > bodyBytesMax } ?? true
        return isLong && !body.isWhole
    }

    /// Ends the call.
    ///
    /// - Parameter answered: when the answer was there, of which a stream went on; nil for now.
    private func end(status: Int, code: String?, answered: Deadline? = nil) {
        let took = (answered ?? .now()).nanoseconds &- start.nanoseconds
        let method = exchange.head.method.rawValue
        let isKnown = method.utf8.count <= RequestLine.methodBytesMax
        handler.log.write(
            RequestLine(
                method: method.isEmpty ? "none" : isKnown ? method : String(method.prefix(RequestLine.methodBytesMax)),
                route: entry?.route.path,
                status: status,
                code: code,
                microseconds: Int64(clamping: took / 1000),
                requestID: requestID,
                traceID: trace.traceID
            )
        )
        handler.observe(RequestOutcome(method: method, route: entry?.index, status: status, tookNanoseconds: took))
        span?.end(exchange, route: entry?.route.path, status: status)
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
        let isKept = body?.append(bytes, bytesMax: bodyBytesMax) ?? false
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
}

extension RouteHandler {
    /// The problem for whatever was thrown.
    func problem(for error: any Error) -> Problem { error as? Problem ?? translate(error) }
}
