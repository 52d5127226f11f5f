import API
import Logging
import RPC
import SwiftProtobuf
import Tracing

/// Writes one line a call or stream: method, code, time taken, peer, the name in the peer's certificate, and the trace that
/// the call is part of. Never messages, other metadata or anything of a person.
package struct CallLog: ServerInterceptor {
    private let lines: FactLog
    private let calls: CallLogging
    /// Whose spans the calls are in; nil where nothing is traced.
    private let tracer: (any Tracer)?

    /// Lines of those calls go to a logger.
    package init(logger: Logger, calls: CallLogging, tracer: (any Tracer)? = nil) {
        lines = FactLog(logger, "call")
        self.calls = calls
        self.tracer = tracer
    }

    package func intercept<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard calls != .none else { return try await next(request, context) }
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            // Health is asked each second by everybody; only its failures are news.
            let isNews = context.method.service != HealthMethods.serviceName
            if calls == .all, isNews { log(.info, context, code: .ok, since: start, cause: nil) }
            return response
        } catch {
            let status = RPCError(thrown: error)
            log(Self.level(of: status.code), context, code: status.code, since: start, cause: status.cause)
            throw error
        }
    }

    /// A stream's line is written when it has ended. Those of health end when a watcher goes or the process stops, which
    /// is no news.
    package func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
        guard calls != .none, context.method.service != HealthMethods.serviceName else { return try await next() }
        let start = ContinuousClock.now
        do {
            try await next()
            if calls == .all { log(.info, context, code: .ok, since: start, cause: nil) }
        } catch {
            let status = RPCError(thrown: error)
            log(Self.level(of: status.code), context, code: status.code, since: start, cause: status.cause)
            throw error
        }
    }

    /// A fault of ours is an error, a lack of something a warning; what callers do wrong is every day's business.
    private static func level(of code: Status.Code) -> Logger.Level {
        switch code {
        case .internalError, .unknown, .dataLoss, .unimplemented: .error
        case .unavailable, .resourceExhausted, .deadlineExceeded: .warning
        case .ok, .cancelled, .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition,
            .aborted, .outOfRange, .unauthenticated:
            .info
        }
    }

    private func log(
        _ level: Logger.Level,
        _ context: ServerContext,
        code: Status.Code,
        since start: ContinuousClock.Instant,
        cause: (any Error)?
    ) {
        lines.log(level) { facts in
            // The cause of what a caller did wrong could quote what the caller sent.
            if let cause, level >= .warning { facts.add("cause", "\(cause)") }
            facts.add("code", code.description)
            if let identity = context.peer.certificateNames.first { facts.add("identity", identity) }
            facts.add("method", context.method.path)
            facts.add("microseconds", (ContinuousClock.now - start).wholeMicroseconds)
            facts.add("peer", context.peer.address)
            // Hexadecimal digits, whatever the caller sent.
            if let trace = context.traceContext ?? tracer.flatMap(TraceContext.current) {
                facts.add("trace", trace.traceID)
            }
        }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
