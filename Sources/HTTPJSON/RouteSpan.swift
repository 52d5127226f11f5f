import HTTP
import HTTPTypes
import RPC
import Tracing

/// The span of a request: kind server, named after method and route, inside the span that the client's `traceparent` names. The
/// services that the route calls become part of it.
///
/// The path as the route declares it: no ids, no query, no header, no address of a person. Attributes and errors:
/// OpenTelemetry semantic conventions, "HTTP server".
final class RouteSpan: Sendable {
    /// The methods that are named; any other is `_OTHER`, as a client may say whatever it likes.
    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]

    private let span: any Span
    /// Where the span stands, as its tracer would tell it.
    let trace: TraceContext?

    /// Begins a request's span; nil for one that has none: orchestrators ask for these paths each second.
    init?(_ tracer: any Tracer, _ head: HTTPRequestHead) {
        guard head.path != "/healthz", head.path != "/readyz" else { return nil }
        var parent = ServiceContext.topLevel
        tracer.extract(head.fields, into: &parent, using: MetadataCarrier())
        span = tracer.startSpan(Self.methodName(head) ?? "HTTP", context: parent, ofKind: .server)
        var metadata = Metadata()
        tracer.inject(span.context, into: &metadata, using: MetadataCarrier())
        trace = TraceContext(metadata)
    }

    /// What is inside of the span.
    var context: ServiceContext { span.context }

    /// Ends the span.
    func end(_ exchange: HTTPExchange, route: String?, status: Int) {
        if span.isRecording {
            let method = Self.methodName(exchange.head)
            if let route { span.operationName = "\(method ?? "HTTP") \(route)" }
            let isFailure = status >= 500
            span.updateAttributes { attributes in
                attributes["http.request.method"] = method ?? "_OTHER"
                attributes["url.scheme"] = exchange.peer.isEncrypted ? "https" : "http"
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
