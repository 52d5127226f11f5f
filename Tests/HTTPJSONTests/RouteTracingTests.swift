import HTTPClients
import HTTPTypes
import InMemoryTracing
import JOSE
import Logging
import Testing
import Tracing

@testable import HTTPJSON

/// The spans of requests, without sockets.
struct RouteTracingTests {
    private struct Surprise: Error {}

    /// Sends a request and gives its span, and what the route saw.
    private func span(
        _ method: HTTPRequest.Method,
        _ uri: String,
        headers: HTTPFields = [:]
    ) async throws -> FinishedInMemorySpan {
        let tracer = InMemoryTracer(idGenerator: .incrementing)
        let routes = [
            Route(.get, "/things/{id}") { _, _ in
                tracer.startSpan("inside", ofKind: .client).end()
                return .json(["done": true])
            },
            Route(.get, "/surprise") { _, _ in throw Surprise() },
            Route(.get, "/refused") { _, _ in throw Problem.routeNotFound },
        ]
        var configuration = RouteHandler.Configuration()
        configuration.tracer = tracer
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let server = RouteHandler(routes: routes, configuration: configuration, logger: quiet)
        _ = try await HandlerClient(server).send(method, uri, headers: headers)
        let span = try #require(tracer.finishedSpans.first { $0.kind == .server })
        for inside in tracer.finishedSpans where inside.kind == .client {
            #expect(inside.parentSpanID == span.spanID && inside.traceID == span.traceID)
        }
        #expect(tracer.activeSpans.isEmpty)
        return span
    }

    private func texts(_ span: FinishedInMemorySpan) -> [String: String] {
        var texts: [String: String] = [:]
        span.attributes.forEach { key, value in
            texts[key] =
                switch value {
                case .string(let text): text
                case .int64(let number): "\(number)"
                default: "?"
                }
        }
        return texts
    }

    @Test func `A request is named after its route`() async throws {
        let span = try await span(.get, "/things/private?query=private", headers: [.userAgent: "private"])
        #expect(span.operationName == "GET /things/{id}" && span.status == nil)
        #expect(
            texts(span) == [
                "http.request.method": "GET", "http.route": "/things/{id}", "url.path": "/things/{id}",
                "url.scheme": "http", "http.response.status_code": "200",
            ]
        )
    }

    @Test func `Only faults of ours are errors`() async throws {
        let surprise = try await span(.get, "/surprise")
        #expect(surprise.status?.code == .error && surprise.status?.message == nil)
        #expect(texts(surprise)["error.type"] == "500" && surprise.errors.isEmpty)
        let refused = try await span(.get, "/refused")
        #expect(refused.status == nil && texts(refused)["http.response.status_code"] == "404")
    }

    @Test func `A request without a route has no path in its span`() async throws {
        let span = try await span(try #require(HTTPRequest.Method("BREW")), "/private/words")
        #expect(span.operationName == "HTTP")
        #expect(texts(span)["http.request.method"] == "_OTHER")
        #expect(!"\(span)".contains("private") && !"\(span)".contains("BREW"))
    }

    @Test func `Probes have no spans`() async throws {
        let tracer = InMemoryTracer()
        var configuration = RouteHandler.Configuration()
        configuration.tracer = tracer
        let routes = [Route(.get, "/readyz") { _, _ in .json(["ready": true]) }]
        let server = RouteHandler(routes: routes, configuration: configuration, logger: Logger(label: "test"))
        _ = try await HandlerClient(server).send(.get, "/readyz")
        #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.isEmpty)
    }

    /// `InMemoryTracer`'s own fields.
    @Test func `The client's span is the parent`() async throws {
        let trace = try #require(HTTPField.Name(InMemoryTracer.traceIDKey))
        let parent = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
        let span = try await span(.get, "/things/1", headers: [trace: "the-trace", parent: "the-span"])
        #expect(span.traceID == "the-trace" && span.parentSpanID == "the-span")
        let twice: HTTPFields = [trace: "the-trace", trace: "another", parent: "the-span"]
        #expect(try await self.span(.get, "/things/1", headers: twice).parentSpanID == nil)
    }
}
