import HTTPTypes
import Hummingbird

/// A method and path, and what answers them.
public struct Route: Sendable {
    /// Answers a request.
    public typealias Handler = @Sendable (Request, RouteContext) async throws -> Response

    /// The method.
    public let method: HTTPRequest.Method
    /// The path, its variable segments in braces: `/groups/{id}/members`.
    public let path: String
    let handler: Handler

    /// A route.
    public init(_ method: HTTPRequest.Method, _ path: String, handler: @escaping Handler) {
        self.method = method
        self.path = path
        self.handler = handler
    }
}

/// Which methods the paths of a server answer: tells 405 from 404.
struct RouteIndex: Sendable {
    private let routes: [(segments: [Substring], method: HTTPRequest.Method)]

    init(_ routes: [Route]) {
        self.routes = routes.map { (Self.segments($0.path), $0.method) }
    }

    /// The methods that a request's path answers, sorted; empty if there is no such path.
    func methods(of path: String) -> [String] {
        let segments = Self.segments(path)
        var methods: Set<String> = []
        for route in routes where Self.matches(route.segments, segments) {
            methods.insert(route.method.rawValue)
            if route.method == .get { methods.insert(HTTPRequest.Method.head.rawValue) }
        }
        return methods.sorted()
    }

    private static func segments(_ path: String) -> [Substring] { path.split(separator: "/") }

    private static func matches(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        pattern.count == segments.count && zip(pattern, segments).allSatisfy { $0.first == "{" || $0 == $1 }
    }
}
