import SwiftProtobuf

/// A channel whose calls pass interceptors, the first one outermost.
public struct InterceptedChannel: ClientChannel {
    private let channel: any ClientChannel
    private let interceptors: [any ClientInterceptor]

    /// Calls over `channel`, which it neither opens nor closes.
    public init(_ channel: any ClientChannel, interceptors: [any ClientInterceptor]) {
        self.channel = channel
        self.interceptors = interceptors
    }

    /// Calls a unary method; see `ClientChannel`.
    public func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response {
        try await unary(method, request, response: response, options: options, past: interceptors[...])
    }

    private func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions,
        past interceptors: ArraySlice<any ClientInterceptor>
    ) async throws(RPCError) -> Response {
        guard let first = interceptors.first else {
            return try await channel.unary(method, request, response: response, options: options)
        }
        let rest = interceptors.dropFirst()
        return try await first.intercept(method, request, options) {
            (request: Request, options: CallOptions) async throws(RPCError) -> Response in
            try await unary(method, request, response: response, options: options, past: rest)
        }
    }

    /// Opens a call of any kind; see `ClientChannel`.
    public func stream<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message, Result: Sendable>(
        _ method: MethodDescriptor,
        request: Request.Type,
        response: Response.Type,
        options: CallOptions,
        _ body: @Sendable (RequestWriter<Request>, MessageReader<Response>) async throws -> Result
    ) async throws -> Result {
        try await stream(method, options, past: interceptors[...]) { options in
            try await channel.stream(method, request: request, response: response, options: options, body)
        }
    }

    private func stream<Result: Sendable>(
        _ method: MethodDescriptor,
        _ options: CallOptions,
        past interceptors: ArraySlice<any ClientInterceptor>,
        _ call: @Sendable (CallOptions) async throws -> Result
    ) async throws -> Result {
        guard let first = interceptors.first else { return try await call(options) }
        let rest = interceptors.dropFirst()
        return try await first.interceptStream(method, options) { options in
            try await stream(method, options, past: rest, call)
        }
    }
}
