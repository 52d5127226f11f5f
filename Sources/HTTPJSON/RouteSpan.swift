import HTTP
import HTTPTypes
import RPC
import Tracing

/// The span of a request: kind server, named after method and route, inside the span that the client's `traceparent` names. The
/// services that the route calls become part of it.
///
/// The path as the route declares it: no ids, no query, no header, no address of a person. Attributes and errors:
/// OpenTelemetry semantic conventions, "HTTP server".
enum RouteSpan {
    /// The methods that are named; any other is `_OTHER`, as a client may say whatever it likes.
    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]

    /// Whether a request has no span: orchestrators ask for these paths each second.
    static func isUntraced(_ head: HTTPRequestHead) -> Bool { head.path == "/healthz" || head.path == "/readyz" }

    /// Begins a request's span.
    static func begin(_ tracer: any Tracer, _ head: HTTPRequestHead) -> any Span {
        var parent = ServiceContext.topLevel
        tracer.extract(head.fields, into: &parent, using: MetadataCarrier())
        return tracer.startSpan(methodName(head) ?? "HTTP", context: parent, ofKind: .server)
    }

    /// Where a span stands, as its tracer would tell it.
    static func trace(of span: any Span, _ tracer: any Tracer) -> TraceContext? {
        var metadata = Metadata()
        tracer.inject(span.context, into: &metadata, using: MetadataCarrier())
        return TraceContext(metadata)
    }

    /// Ends a request's span.
    static func end(_ span: any Span, _ head: HTTPRequestHead, scheme: String, route: String?, status: Int) {
        if span.isRecording {
            let method = methodName(head)
            if let route { span.operationName = "\(method ?? "HTTP") \(route)" }
            let isFailure = status >= 500
            span.updateAttributes { attributes in
                attributes["http.request.method"] = method ?? "_OTHER"
                attributes["url.scheme"] = scheme
                if let route {
                    attributes["http.route"] = route
                    attributes["url.path"] = route
                }
                attributes["http.response.status_code"] = status
                if isFailure { attributes["error.type"] = "\(status)" }
            }
            if isFailure { span.setStatus(SpanStatus(code: .error)) }
        }
        span.end()
    }

    private static func methodName(_ head: HTTPRequestHead) -> String? {
        methods.contains(head.method.rawValue) ? head.method.rawValue : nil
    }
}
