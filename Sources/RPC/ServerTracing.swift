import SwiftProtobuf
import Tracing

/// Makes a span of each call that a server answers: kind server, named after the method, inside the span that the caller's
/// `traceparent` names. What the handler calls and asks of the database becomes part of it.
///
/// Put it first, so that it sees what the other interceptors refuse. Where nothing is traced leave it out: then a call costs
/// nothing more. It sees calls whose handler begins; those that are refused before that, because the method is unknown or the
/// request is malformed, have no span.
///
/// Attributes and errors: OpenTelemetry semantic conventions, "RPC" and "gRPC". No message, no metadata and no address of a
/// caller is recorded.
public struct ServerTracing: ServerInterceptor {
    /// Services whose calls have no spans: everybody asks for health each second.
    public static let untracedServices: Set = ["grpc.health.v1.Health"]

    private let tracer: any Tracer
    private let address: String
    private let port: Int

    /// - Parameters:
    ///   - tracer: makes the spans.
    ///   - address: where the server listens, as the spans say it.
    ///   - port: the port that it listens on, likewise.
    public init(_ tracer: any Tracer, address: String, port: Int) {
        self.tracer = tracer
        self.address = address
        self.port = port
    }

    /// Handles a call within a span.
    public func intercept<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let span = start(context) else { return try await next(request, context) }
        do {
            let response = try await ServiceContext.$current.withValue(span.context) {
                try await next(request, context)
            }
            span.endServer(.ok)
            return response
        } catch {
            span.endServer(Self.code(error, context))
            throw error
        }
    }

    /// Handles a streaming call within a span, which ends when the stream has ended.
    public func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
        guard let span = start(context) else { return try await next() }
        do {
            try await ServiceContext.$current.withValue(span.context) { try await next() }
            span.endServer(.ok)
        } catch {
            span.endServer(Self.code(error, context))
            throw error
        }
    }

    private func start(_ context: ServerContext) -> (any Span)? {
        let method = context.method
        guard !Self.untracedServices.contains(method.service) else { return nil }
        var parent = ServiceContext.topLevel
        tracer.extract(context.metadata, into: &parent, using: MetadataCarrier())
        let span = tracer.startSpan(method.spanName, context: parent, ofKind: .server)
        guard span.isRecording else { return span }
        var attributes = method.spanAttributes
        attributes["server.address"] = address
        attributes["server.port"] = port
        span.attributes = attributes
        return span
    }

    /// The caller's status: a handler that is stopped by the deadline throws that it was cancelled.
    private static func code(_ error: any Error, _ context: ServerContext) -> Status.Code {
        let code = RPCError(thrown: error).code
        return code == .cancelled && context.deadline?.hasPassed == true ? .deadlineExceeded : code
    }
}

extension MethodDescriptor {
    /// The name of the spans of its calls: `package.Service/Method`.
    public var spanName: String { String(path.dropFirst()) }

    /// What the spans of its calls say on both sides.
    public var spanAttributes: SpanAttributes {
        ["rpc.system": "grpc", "rpc.service": .string(service), "rpc.method": .string(method)]
    }
}

extension Status.Code {
    /// Whether it says that the server failed, and not its caller (semantic conventions for gRPC, "Server").
    public var isServerFailure: Bool {
        switch self {
        case .unknown, .deadlineExceeded, .unimplemented, .internalError, .unavailable, .dataLoss: true
        case .ok, .cancelled, .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .resourceExhausted,
            .failedPrecondition, .aborted, .outOfRange, .unauthenticated:
            false
        }
    }
}

extension Span {
    fileprivate func endServer(_ code: Status.Code) { end(code, isFailure: code.isServerFailure) }

    /// Ends the span of a call with the code that the call ended with.
    ///
    /// - Parameter isFailure: whether the operation counts as failed.
    public func end(_ code: Status.Code, isFailure: Bool) {
        if isRecording {
            updateAttributes { attributes in
                attributes["rpc.grpc.status_code"] = code.rawValue
                if isFailure { attributes["error.type"] = code.description }
            }
            if isFailure { setStatus(SpanStatus(code: .error)) }
        }
        end()
    }
}
