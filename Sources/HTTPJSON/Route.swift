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
