import RPC
import Tracing

/// Makes a span of each call over a channel: kind client, inside the span that the caller's task is in. Any thread.
///
/// A span lasts from the call to its completion, whatever is tried in between: each further attempt is an event of it.
/// Attributes and errors: OpenTelemetry semantic conventions, "RPC" and "gRPC".
final class ClientTracing: Sendable {
    private let tracer: any Tracer
    private let attributes: SpanAttributes

    /// - Parameter target: where the channel calls. Its host and port are attributes if it is a single address.
    init(_ tracer: any Tracer, target: ChannelTarget) {
        self.tracer = tracer
        var attributes: SpanAttributes = [:]
        if target.parts.count == 1, let part = target.parts.first {
            attributes["server.address"] = part.host
            attributes["server.port"] = part.port
        }
        self.attributes = attributes
    }

    /// Starts the span of a call, and puts it into the call's metadata in place of what was there. Nil for a call that
    /// nobody wants to see.
    func start(_ method: MethodDescriptor, _ options: inout CallOptions) -> ClientSpan? {
        guard !ServerTracing.untracedServices.contains(method.service) else { return nil }
        let span = tracer.startSpan(method.spanName, context: parent(options), ofKind: .client)
        if span.isRecording {
            var attributes = attributes
            attributes.merge(method.spanAttributes)
            span.attributes = attributes
        }
        MetadataCarrier.inject(span.context, of: tracer, into: &options.metadata)
        return ClientSpan(span)
    }

    /// The span that the task is in; outside of spans the one that the caller wrote into the metadata, if it did.
    private func parent(_ options: CallOptions) -> ServiceContext {
        if options.inheritsFromCall, let current = ServiceContext.current { return current }
        var context = ServiceContext.topLevel
        tracer.extract(options.metadata, into: &context, using: MetadataCarrier())
        return context
    }
}

/// The span of one call. Any thread.
final class ClientSpan: Sendable {
    private let span: any Span

    fileprivate init(_ span: any Span) { self.span = span }

    /// An attempt has failed, and another one follows.
    ///
    /// - Parameters:
    ///   - code: what the attempt ended with.
    ///   - isTransparent: whether the server certainly did not process it (gRFC A6).
    func attemptFailed(_ code: Status.Code, isTransparent: Bool) {
        guard span.isRecording else { return }
        let attributes: SpanAttributes = [
            "rpc.grpc.status_code": .int64(Int64(code.rawValue)), "transparent-retry": .bool(isTransparent),
        ]
        span.addEvent(SpanEvent(name: "retry", attributes: attributes))
    }

    /// The call has completed. To its caller every code but OK is an error.
    func end(_ code: Status.Code) { span.end(code, isFailure: code != .ok) }
}
