import HTTPClients
import HTTPTypes
import InMemoryTracing
import JOSE
import Logging
import Testing
import Tracing

@testable import HTTPJSON

/// Routes that wait for nothing.
struct AnswerAtOnceTests {
    private struct Surprise: Error {}

    private static let routes = [
        Route(
            .get,
            "/things/{id}",
            atOnce: { _, context in .json { $0.add("id", context.parameters.get("id") ?? "") } }
        ),
        Route(.get, "/surprise", atOnce: { _, _ in throw Surprise() }),
        Route(.get, "/refused", atOnce: { _, _ in throw Problem(.conflict, code: "TAKEN", detail: "It is taken.") }),
        Route(.get, "/events", atOnce: { _, _ in .events { try await $0.send("one") } }),
    ]

    private static func handler(_ tracer: (any Tracer)? = nil, _ routes: [Route] = routes) -> RouteHandler {
        var configuration = RouteHandler.Configuration()
        configuration.tracer = tracer
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        return RouteHandler(routes: routes, configuration: configuration, logger: quiet)
    }

    @Test func `Handlers that answer at once answer like others`() async throws {
        let client = HandlerClient(Self.handler())
        let answer = try await client.send(.get, "/things/7")
        #expect(answer.status == .ok && answer.text == #"{"id":"7"}"#)
        #expect(answer.headers[.contentType] == "application/json" && answer.headers[.requestID]?.utf8.count == 32)
        #expect(try await client.send(.get, "/surprise").status == .internalServerError)
        let refused = try await client.send(.get, "/refused")
        #expect(refused.status == .conflict && refused.text.contains("TAKEN"))
        #expect(try await client.send(.post, "/refused").status == .methodNotAllowed)
    }

    @Test func `Their answer may be a stream, which needs a task`() async throws {
        let client = HandlerClient(Self.handler())
        #expect(try await client.send(.get, "/events").text == "data: one\n\n")
        #expect(try await client.send(.head, "/events").body.isEmpty)
    }

    @Test func `Their spans are inside the request's span`() async throws {
        let tracer = InMemoryTracer(idGenerator: .incrementing)
        let route = Route(
            .get,
            "/traced",
            atOnce: { _, _ in
                tracer.startSpan("inside", ofKind: .client).end()
                return .json { _ in }
            }
        )
        #expect(try await HandlerClient(Self.handler(tracer, [route])).send(.get, "/traced").text == "{}")
        let outside = try #require(tracer.finishedSpans.first { $0.kind == .server })
        let inside = try #require(tracer.finishedSpans.first { $0.kind == .client })
        #expect(inside.parentSpanID == outside.spanID && outside.operationName == "GET /traced")
        #expect(tracer.activeSpans.isEmpty)
    }
}
