import HTTPTypes
import Hummingbird
import RPC
import Tracing

/// Makes a span of each request: kind server, named after method and route, inside the span that the client's `traceparent`
/// names. The services that the route calls become part of it. Outermost, and only there where something is traced.
///
/// The path as the route declares it: no ids, no query, no header, no address of a person. Attributes and errors:
/// OpenTelemetry semantic conventions, "HTTP server".
struct RouteTracing: RouterMiddleware {
    typealias Context = EdgeContext

    /// The methods that are named; any other is `_OTHER`, as a client may say whatever it likes.
    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"]

    /// Paths whose requests have no spans: orchestrators ask for them each second.
    private static let untracedPaths: Set = ["/healthz", "/readyz"]

    let tracer: any Tracer

    func handle(
        _ request: Hummingbird.Request,
        context: EdgeContext,
        next: (Hummingbird.Request, EdgeContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        guard !Self.untracedPaths.contains(request.uri.path) else { return try await next(request, context) }
        let method = Self.methods.contains(request.method.rawValue) ? request.method.rawValue : "_OTHER"
        let name = method == "_OTHER" ? "HTTP" : method
        var parent = ServiceContext.topLevel
        tracer.extract(request.headers, into: &parent, using: HeaderCarrier())
        let span = tracer.startSpan(name, context: parent, ofKind: .server)
        // So that the log names the trace, also where it begins here.
        var head = request.head
        head.headerFields[.traceParent] = nil
        head.headerFields[.traceState] = nil
        tracer.inject(span.context, into: &head.headerFields, using: HeaderCarrier())
        let traced = Hummingbird.Request(head: head, body: request.body)
        do {
            let response = try await ServiceContext.$current.withValue(span.context) {
                try await next(traced, context)
            }
            end(span, name, method, context.endpointPath, status: response.status.code)
            return response
        } catch {
            // The next middleware answers all errors; this one is of the connection.
            end(span, name, method, context.endpointPath, status: nil)
            throw error
        }
    }

    private func end(_ span: any Span, _ name: String, _ method: String, _ endpoint: String?, status: Int?) {
        if span.isRecording {
            // Hummingbird has a word there for what no route answers.
            let route = endpoint.flatMap { $0.hasPrefix("/") ? $0 : nil }
            if let route { span.operationName = "\(name) \(route)" }
            let isFailure = status.map { $0 >= 500 } ?? true
            span.updateAttributes { attributes in
                attributes["http.request.method"] = method
                attributes["url.scheme"] = "http"
                if let route {
                    attributes["http.route"] = route
                    attributes["url.path"] = route
                }
                if let status { attributes["http.response.status_code"] = status }
                if isFailure { attributes["error.type"] = status.map { "\($0)" } ?? "connection" }
            }
            if isFailure { span.setStatus(SpanStatus(code: .error)) }
        }
        span.end()
    }
}

/// Carries the place in a trace in the header fields of a request; as `MetadataCarrier`.
private struct HeaderCarrier: Extractor, Injector {
    func extract(key: String, from fields: HTTPFields) -> String? {
        guard let name = HTTPField.Name(key) else { return nil }
        let values = fields[values: name]
        if name == .traceState, values.count > 1 { return values.joined(separator: ",") }
        return values.count == 1 ? values[0] : nil
    }

    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        if let name = HTTPField.Name(key) { fields[name] = value }
    }
}
