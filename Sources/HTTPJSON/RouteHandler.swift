import HTTP
import HTTPTypes
import JOSE
import Logging
import RPC
import Tracing

/// Answers exchanges by routes: with each request's id and deadline, problems for errors, security headers, one log line, and
/// a span where something is traced.
///
/// What needs no route is answered at once, and so is what a route answers without waiting. Any other route's handler begins on the
/// spot too, as a task on the exchange's executor.
public final class RouteHandler: HTTPHandler {
    /// What distinguishes one set of routes from another.
    public struct Configuration: Sendable {
        /// The bounds.
        public var limits: HTTPLimits
        /// `max-age` of Strict-Transport-Security; 0 sends none.
        public var strictTransportSeconds: Int64 = 0
        /// Makes the ids of requests that bring none, of the bytes that ``RequestName/sane(_:)`` allows.
        public var makeRequestID: @Sendable () -> String = RequestName.make
        /// Whether a path may end with a slash that its route does not have: false, so that each has one spelling.
        public var takesTrailingSlash = false
        /// The pages of other origins that may call the routes; nil for none.
        public var crossOrigin: CrossOrigin?
        /// The setting that lists those pages, for development: the log names it when the preflight of another page is refused. Nil
        /// for no such line.
        public var crossOriginSetting: String?
        /// The methods of a path that another handler of the port answers, so that pages of other origins may call it too; empty
        /// for any other path.
        public var methodsOfCalls: @Sendable (HTTPRequestHead) -> [String] = { _ in [] }
        /// Routes that are refused for a while, by method and path such as `GET /groups/{group_id}`, and when they are taken again.
        public var suspended: [String: Deadline] = [:]
        /// The problem that answers a refused request, from the time left.
        public var suspensionProblem: @Sendable (_ remaining: Duration) -> Problem = { _ in
            Problem(.serviceUnavailable, code: "METHOD_SUSPENDED", detail: "This is not available right now.")
        }
        /// A field for the answer to a request, whatever answers it; nil for none. Called on the thread of its connection.
        public var answerField: @Sendable (RequestFields) -> (name: HTTPField.Name, value: String)? = { _ in nil }
        /// Makes a span of each request; nil for none. By default the program's tracer, if it has installed one by now.
        public var tracer: (any Tracer)? = InstrumentationSystem.installedTracer

        /// A configuration.
        public init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }
    }

    /// A route with what is asked of it for each request.
    final class Entry: Sendable {
        let route: Route
        /// Method and path, as a report of a crash names it.
        let name: String
        /// Its place among all.
        let index: Int
        /// The names of the path's variables.
        let variables: [String]
        /// Whether pages of other origins may not call some route of this path.
        let isClosed: Bool
        /// Until when its requests are refused; nil for a route that is not suspended.
        let suspendedUntil: Deadline?

        init(_ route: Route, index: Int, isClosed: Bool, suspended: [String: Deadline]) {
            self.route = route
            name = "\(route.method.rawValue) \(route.path)"
            self.index = index
            variables = RouteTable.variables(of: route.path)
            self.isClosed = isClosed
            suspendedUntil = suspended[name]
        }
    }

    let configuration: Configuration
    let table: RouteTable
    let entries: [Entry]
    let fields: AnswerFields
    let logger: Logger
    let log: any RequestLog
    let translate: @Sendable (any Error) -> Problem
    let render: @Sendable (Problem, Request) -> Response
    let admit: @Sendable (Request, RouteContext) throws -> Void
    let observe: @Sendable (RequestOutcome) -> Void
    /// How long a request may take.
    let requestNanoseconds: UInt64
    /// Whether requests have spans.
    let isTraced: Bool

    /// A handler.
    ///
    /// - Parameters:
    ///   - routes: every path that it answers.
    ///   - configuration: how.
    ///   - logger: for failures, and for routes.
    ///   - log: takes one line a request; by default the logger.
    ///   - problem: the problem for an error that a route threw and that is none yet.
    ///   - render: how a problem is rendered for the client of a request: by default as RFC 9457 has it. Logs and counts have the
    ///     problem's own code whatever it makes of it.
    ///   - admit: throws a problem for a request that must not reach its route, such as one too many.
    ///   - observe: told what became of each request, on the thread of its connection.
    public init(
        routes: [Route],
        configuration: Configuration,
        logger: Logger,
        log: (any RequestLog)? = nil,
        problem: @escaping @Sendable (any Error) -> Problem = { .internalError(cause: $0) },
        render: @escaping @Sendable (Problem, Request) -> Response = { problem, _ in problem.response() },
        admit: @escaping @Sendable (Request, RouteContext) throws -> Void = { _, _ in },
        observe: @escaping @Sendable (RequestOutcome) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.logger = logger
        self.log = log ?? LoggerRequestLog(logger: logger)
        self.translate = problem
        self.render = render
        self.admit = admit
        self.observe = observe
        table = RouteTable(routes)
        fields = AnswerFields(strictTransportSeconds: configuration.strictTransportSeconds)
        let closed = Set(routes.filter { !$0.isForOtherOrigins }.map(\.path))
        entries = routes.enumerated().map { index, route in
            Entry(route, index: index, isClosed: closed.contains(route.path), suspended: configuration.suspended)
        }
        requestNanoseconds = configuration.limits.requestTimeout.wholeNanoseconds
        isTraced = configuration.tracer != nil
    }

    /// What is to be added to the answers of another handler of the port: security headers, and what lets pages of other origins
    /// read them.
    public func fieldsOfCalls(_ head: HTTPRequestHead) -> Metadata {
        let request = RequestFields(head.fields)
        var answer = fields.ofCall(origin: configuration.crossOrigin?.answer(to: request, isClosed: false))
        if let field = configuration.answerField(request) { answer.add(field.name.canonicalName, field.value) }
        return answer
    }

    /// Takes a request. Where the exchange runs.
    public func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)? {
        let call = RouteCall(of: exchange, self)
        return call.begin() ? call : nil
    }
}
