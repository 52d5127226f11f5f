import HTTP
import HTTPClients
import HTTPTypes
import Logging
import Testing

@testable import HTTPJSON

/// Answers that go on.
struct EventStreamTests {
    private struct Surprise: Error {}

    private static let handler: RouteHandler = {
        let routes = [
            Route(.get, "/events") { _, _ in
                .events { stream in
                    try await stream.send("one")
                    try await stream.sendComment()
                    try await stream.send("two\nlines\r\nand three", event: "many\nid: 9", id: "7")
                }
            },
            Route(.get, "/spaces") { _, _ in
                .events { try await $0.send("a\u{2028}b\u{85}c\u{0b}d\re") }
            },
            Route(.get, "/breaks") { _, _ in
                .events { stream in
                    try await stream.send("one")
                    throw Surprise()
                }
            },
        ]
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        return RouteHandler(routes: routes, configuration: .init(), logger: quiet)
    }()

    @Test func `Events are written as they come`() async throws {
        let answer = try await HandlerClient(Self.handler).send(.get, "/events")
        #expect(answer.status == .ok && answer.headers[.contentType] == "text/event-stream")
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.requestID] != nil)
        let second = "event: manyid: 9\nid: 7\ndata: two\ndata: lines\ndata: and three\n\n"
        #expect(answer.text == "data: one\n\n:\n\n" + second)
    }

    /// WHATWG HTML section 9.2.5 knows three line ends; clients would put a line feed in the place of any other.
    @Test func `Line separators of Unicode don't end a line of an event`() async throws {
        let answer = try await HandlerClient(Self.handler).send(.get, "/spaces")
        #expect(answer.text == "data: a\u{2028}b\u{85}c\u{0b}d\ndata: e\n\n")
    }

    @Test func `A broken stream has no end`() async {
        #expect(await HandlerClient(Self.handler).answer(to: HTTPRequestHead(method: .get, target: "/breaks")) == nil)
    }

    @Test func `HEAD begins no stream`() async throws {
        let answer = try await HandlerClient(Self.handler).send(.head, "/events")
        #expect(answer.status == .ok && answer.headers[.contentType] == "text/event-stream" && answer.body.isEmpty)
    }
}
