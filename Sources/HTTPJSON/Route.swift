import HTTPTypes

/// A method and path, and what answers them.
public struct Route: Sendable {
    /// Answers a request.
    public typealias Handler = @Sendable (Request, RouteContext) async throws -> Response
    /// Answers a request without waiting for anything.
    public typealias ImmediateHandler = @Sendable (Request, RouteContext) throws -> Response

    /// What answers.
    enum Answering: Sendable {
        case atOnce(ImmediateHandler)
        case inTask(Handler)
    }

    /// The method.
    public let method: HTTPRequest.Method
    /// The path, its variable segments in braces: `/groups/{group_id}/members`.
    public let path: String
    /// Whether pages of other origins may call it, where the server lets any.
    public let isForOtherOrigins: Bool
    /// The largest request body, in bytes; nil for that of the server's limits.
    public let bodyBytesMax: Int?
    /// The fields that its JSON body may have, any other being refused; nil if unknown fields are ignored.
    public let bodyFields: JSONFieldNames?
    let answering: Answering

    /// A route.
    public init(
        _ method: HTTPRequest.Method,
        _ path: String,
        isForOtherOrigins: Bool = true,
        bodyBytesMax: Int? = nil,
        bodyFields: JSONFieldNames? = nil,
        handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.isForOtherOrigins = isForOtherOrigins
        self.bodyBytesMax = bodyBytesMax
        self.bodyFields = bodyFields
        answering = .inTask(handler)
    }

    /// A route whose handler waits for nothing, not even for a body, and so needs no task.
    public init(
        _ method: HTTPRequest.Method,
        _ path: String,
        isForOtherOrigins: Bool = true,
        atOnce handler: @escaping ImmediateHandler
    ) {
        self.method = method
        self.path = path
        self.isForOtherOrigins = isForOtherOrigins
        bodyBytesMax = nil
        bodyFields = nil
        answering = .atOnce(handler)
    }
}
