import HTTPTypes

/// A method and path, and what answers them.
public struct Route: Sendable {
    /// Answers a request.
    public typealias Handler = @Sendable (Request, RouteContext) async throws -> Response

    /// The method.
    public let method: HTTPRequest.Method
    /// The path, its variable segments in braces: `/groups/{id}/members`.
    public let path: String
    /// Whether pages of other origins may call it, where the server lets any.
    public let isForOtherOrigins: Bool
    let handler: Handler

    /// A route.
    public init(
        _ method: HTTPRequest.Method,
        _ path: String,
        isForOtherOrigins: Bool = true,
        handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.isForOtherOrigins = isForOtherOrigins
        self.handler = handler
    }
}

/// Which methods the paths of a server answer: tells 405 from 404.
struct RouteIndex: Sendable {
    private let routes: [(segments: [Substring], method: HTTPRequest.Method)]

    init(_ routes: [Route]) {
        self.routes = routes.map { (Self.segments($0.path), $0.method) }
    }

    /// The methods that a request's path answers, sorted; empty if there is no such path. Where a path fits several routes it
    /// is the one with a word in the place of the other's variable that counts, as in the router.
    func methods(of path: String) -> [String] {
        let segments = Self.segments(path)
        let fitting = routes.filter { Self.matches($0.segments, segments) }
        let closest = fitting.map { Self.variables($0.segments) }.min { $0.lexicographicallyPrecedes($1) }
        var methods: Set<String> = []
        for route in fitting where Self.variables(route.segments) == closest {
            methods.insert(route.method.rawValue)
            if route.method == .get { methods.insert(HTTPRequest.Method.head.rawValue) }
        }
        return methods.sorted()
    }

    /// 0 for each word of a pattern and 1 for each variable.
    private static func variables(_ pattern: [Substring]) -> [Int] { pattern.map { $0.first == "{" ? 1 : 0 } }

    private static func segments(_ path: String) -> [Substring] { path.split(separator: "/") }

    private static func matches(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        pattern.count == segments.count && zip(pattern, segments).allSatisfy { $0.first == "{" || $0 == $1 }
    }
}

/// The routes that pages of other origins may call, and the origins.
struct CrossOriginRoutes: Sendable {
    private let rule: CrossOrigin
    private let index: RouteIndex
    /// The paths of routes that such pages may not call.
    private let closed: Set<String>

    init(_ routes: [Route], _ rule: CrossOrigin) {
        self.rule = rule
        index = RouteIndex(routes.filter(\.isForOtherOrigins))
        closed = Set(routes.filter { !$0.isForOtherOrigins }.map(\.path))
    }

    /// The answer to a preflight from a listed origin for a path that it may call; nil for any other request.
    func preflightAnswer(_ request: Request) -> Response? {
        guard CrossOrigin.isPreflight(request), rule.origin(of: request) != nil else { return nil }
        let methods = index.methods(of: request.uri.path)
        return methods.isEmpty ? nil : rule.preflightAnswer(methods: methods)
    }

    /// Lets the page that asked read the answer: errors too, also where no route answers.
    func addHeaders(to response: inout Response, _ request: Request, route: String?) {
        let isClosed = route.map(closed.contains) ?? false
        rule.addHeaders(to: &response, origin: isClosed ? nil : rule.origin(of: request))
    }
}
