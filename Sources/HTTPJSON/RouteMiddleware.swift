import HTTPTypes
import Hummingbird
import Logging
import RPC
import Synchronization

/// What surrounds every route: the request's id and deadline, problems for errors, security headers, one log line.
struct RouteMiddleware: RouterMiddleware {
    typealias Context = EdgeContext

    let logger: Logger
    let limits: HTTPLimits
    let index: RouteIndex
    let strictTransportSeconds: Int64
    let takesTrailingSlash: Bool
    let crossOrigin: CrossOriginRoutes?
    let makeRequestID: @Sendable () -> String
    let translate: @Sendable (any Error) -> Problem
    let render: @Sendable (Problem, Request) -> Response
    let admit: @Sendable (Request, RouteContext) throws -> Void
    let observe: @Sendable (RequestOutcome) -> Void

    func handle(
        _ incoming: Hummingbird.Request,
        context incomingContext: EdgeContext,
        next: (Hummingbird.Request, EdgeContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        let start = ContinuousClock.now
        let request = Request(incoming)
        var edge = incomingContext
        var context = RouteContext(incoming, edge)
        context.limits = limits
        context.deadline = .after(limits.requestTimeout)
        context.requestID = RequestName.sane(request.headers[.requestID]) ?? makeRequestID()
        // So that one id is in the log of all who have a part in the request.
        let trace = trace(of: request) ?? .root()
        context.trace = trace
        // Ours in place of Hummingbird's, so that a log has one id for a request.
        context.logger = logger
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        context.logger[metadataKey: "trace"] = "\(trace.traceID)"

        edge.route = context
        context.endpointPath = edge.endpointPath
        var response: Response
        var code: String?
        var closes = leavesBody(request)
        do {
            if let fault = request.headers[.framingFault] { throw FramingFault(rawValue: fault).problem }
            try admit(request, context)
            guard RequestPath.isPlain(request.uri.path, mayEndWithSlash: takesTrailingSlash) else {
                throw Problem.routeNotFound
            }
            if let answer = crossOrigin?.preflightAnswer(request) {
                response = answer
            } else {
                _ = try await next(incoming, edge)
                guard let answer = edge.box.answer.withLock({ $0 }) else { throw Problem.routeNotFound }
                response = answer
                context.endpointPath = edge.endpointPath
            }
            // A route that answers an error by itself says so itself, too.
            let isClosing = response.headers[.connection] == "close"
            closes = closes && response.status.code >= 400 || isClosing
        } catch {
            context.endpointPath = edge.endpointPath
            let problem = self.problem(error, request)
            log(problem, context.logger)
            response = render(problem, request)
            code = problem.code
            closes = closes || problem.closesConnection
        }
        if closes {
            response.headers[.connection] = "close"
            edge.closeConnectionSoon()
        }
        addHeaders(to: &response, requestID: context.requestID)
        crossOrigin?.addHeaders(to: &response, request, route: context.endpointPath)
        let took = start.duration(to: .now)
        log(request, response, code: code, took: took, context)
        observe(
            RequestOutcome(
                method: request.method.rawValue,
                route: context.endpointPath,
                status: response.status.code,
                took: took
            )
        )
        let answer = Hummingbird.Response(response)
        return request.method == .head ? answer.createHeadResponse() : answer
    }

    private func problem(_ error: any Error, _ request: Request) -> Problem {
        if let problem = error as? Problem { return problem }
        if let error = error as? HTTPError, error.status == .notFound {
            let methods = index.methods(of: request.uri.path)
            return methods.isEmpty ? .routeNotFound : .methodNotAllowed(methods)
        }
        return translate(error)
    }

    /// Whether an error might leave a body behind that is not worth reading to its end.
    private func leavesBody(_ request: Request) -> Bool {
        if request.headers[.transferEncoding] != nil { return true }
        return request.headers[.contentLength].flatMap(Int.init).map { $0 > limits.bodyBytesMax } ?? false
    }

    private func trace(of request: Request) -> TraceContext? {
        let parents = request.headers[values: .traceParent]
        guard !parents.isEmpty else { return nil }
        var metadata = Metadata()
        for parent in parents { metadata.add("traceparent", parent) }
        for state in request.headers[values: .traceState] { metadata.add("tracestate", state) }
        return TraceContext(metadata)
    }

    private func addHeaders(to response: inout Response, requestID: String) {
        response.headers[.requestID] = requestID
        // A page says itself what it may load.
        for field in HTTPFields.ofEveryAnswer where response.headers[field.name] == nil {
            response.headers[field.name] = field.value
        }
        // Answers hold tokens and personal data; routes that may be cached say so themselves.
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        if strictTransportSeconds > 0 {
            response.headers[.strictTransportSecurity] = "max-age=\(strictTransportSeconds)"
        }
    }

    private func log(_ problem: Problem, _ logger: Logger) {
        guard let cause = problem.cause else { return }
        let level: Logger.Level = problem.status.code >= 500 ? .error : .debug
        logger.log(level: level, "request failed", metadata: ["code": "\(problem.code)", "cause": "\(cause)"])
    }

    /// One line a request. The path as the route declares it: no ids, no query, no address of a person.
    private func log(
        _ request: Request,
        _ response: Response,
        code: String?,
        took: Duration,
        _ context: RouteContext
    ) {
        var facts: Logger.Metadata = [
            "method": "\(request.method.rawValue.prefix(16))",
            "route": "\(context.endpointPath ?? "none")",
            "status": .stringConvertible(response.status.code),
            "microseconds": .stringConvertible(Int64(clamping: took.wholeNanoseconds / 1000)),
        ]
        if let code { facts["code"] = "\(code)" }
        context.logger.info("request", metadata: facts)
    }
}
