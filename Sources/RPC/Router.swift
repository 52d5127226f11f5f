import SwiftProtobuf
import Synchronization

/// The methods that a server answers. Services register their methods in it, and transports look up the handler of a path.
public struct Router: Sendable {
    /// Every registered method, in the order of registration.
    public private(set) var methods: [MethodHandler] = []
    private var indices: [String: Int] = [:]
    private let interceptors: [any ServerInterceptor]
    private let isOrigin: Bool
    private let suspended: SuspendedMethods

    /// An empty router.
    ///
    /// - Parameters:
    ///   - interceptors: what each call passes, the first one outermost.
    ///   - makesOnwardCalls: whether handlers may call other servers. If so, the calls that a handler makes inherit deadline
    ///     and trace of its own call (`OnwardCall`), which costs a call that has either some 0.15 µs. If not, a handler hands
    ///     on the deadline with `CallOptions(inheriting:)`.
    ///   - suspended: methods whose calls are refused for a while.
    public init(
        interceptors: [any ServerInterceptor] = [],
        makesOnwardCalls: Bool = true,
        suspended: SuspendedMethods = SuspendedMethods()
    ) {
        self.interceptors = interceptors
        isOrigin = makesOnwardCalls
        self.suspended = suspended
    }

    /// The names of all registered services.
    public var services: Set<String> { Set(methods.map(\.descriptor.service)) }

    /// The method of a request's `:path`.
    public subscript(path: String) -> MethodHandler? { indices[path].map { methods[$0] } }

    /// Registers all methods of a service.
    public mutating func add(_ service: some RPCService) { service.register(in: &self) }

    /// Registers the handler of a unary method; a method may be registered once.
    public mutating func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        request: Request.Type = Request.self,
        response: Response.Type = Response.self,
        handler: @escaping @Sendable (Request, ServerContext) async throws -> Response
    ) {
        // No `reduce`: it would take the handler for a value of any type, behind two more async calls for each request.
        var intercepted = handler
        for interceptor in interceptors.reversed() {
            let next = intercepted
            intercepted = { try await interceptor.intercept($0, $1, next: next) }
        }
        add(
            SingleRequestHandler<Request>(method, isOrigin: isOrigin, interceptors: interceptors) {
                [intercepted] request, call in
                let response = try await intercepted(request, ServerContext(call))
                try call.respond(response)
            }
        )
    }

    /// Registers the handler of a server-streaming method. The call ends when the handler returns.
    public mutating func serverStreaming<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        request: Request.Type = Request.self,
        response: Response.Type = Response.self,
        handler: @escaping @Sendable (Request, MessageWriter<Response>, ServerContext) async throws -> Void
    ) {
        let interceptors = interceptors
        add(
            SingleRequestHandler<Request>(method, isOrigin: isOrigin, interceptors: interceptors) { request, call in
                try await Self.intercept(ServerContext(call), interceptors[...]) {
                    try await handler(request, MessageWriter(to: call), ServerContext(call))
                }
                call.finish(trailers: call.trailingMetadata)
            }
        )
    }

    /// Registers the handler of a client-streaming method.
    public mutating func clientStreaming<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        request: Request.Type = Request.self,
        response: Response.Type = Response.self,
        handler: @escaping @Sendable (MessageReader<Request>, ServerContext) async throws -> Response
    ) {
        let interceptors = interceptors
        add(
            StreamingRequestHandler(method, isOrigin: isOrigin) { requests, call in
                let response = Mutex<Response?>(nil)
                try await Self.intercept(ServerContext(call), interceptors[...]) {
                    let answer = try await handler(MessageReader(requests, of: call), ServerContext(call))
                    response.withLock { $0 = answer }
                }
                guard let response = response.withLock({ $0 }) else {
                    throw RPCError(.internalError, "an interceptor let nobody answer")
                }
                try call.respond(response)
            }
        )
    }

    /// Registers the handler of a bidirectional-streaming method. The call ends when the handler returns.
    public mutating func bidirectionalStreaming<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        request: Request.Type = Request.self,
        response: Response.Type = Response.self,
        handler:
            @escaping @Sendable (MessageReader<Request>, MessageWriter<Response>, ServerContext) async throws ->
            Void
    ) {
        let interceptors = interceptors
        add(
            StreamingRequestHandler(method, isOrigin: isOrigin) { requests, call in
                try await Self.intercept(ServerContext(call), interceptors[...]) {
                    try await handler(MessageReader(requests, of: call), MessageWriter(to: call), ServerContext(call))
                }
                call.finish(trailers: call.trailingMetadata)
            }
        )
    }

    /// Runs a streaming call through the interceptors, the first one outermost.
    private static func intercept(
        _ context: ServerContext,
        _ interceptors: ArraySlice<any ServerInterceptor>,
        _ handler: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let first = interceptors.first else { return try await handler() }
        try await first.interceptStream(context) {
            try await intercept(context, interceptors.dropFirst(), handler)
        }
    }

    private mutating func add(_ method: MethodHandler) {
        let path = method.descriptor.path
        precondition(indices[path] == nil, "\(path) is registered twice")
        indices[path] = methods.count
        let suspension = suspended.until[path].map { until in
            SuspendedHandler(method, until: until, interceptors: interceptors, error: suspended.error)
        }
        methods.append(suspension ?? method)
    }
}
