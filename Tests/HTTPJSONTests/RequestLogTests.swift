import HTTP
import HTTPClients
import HTTPTypes
import JOSE
import Logging
import RPC
import Synchronization
import Testing

@testable import HTTPJSON

/// The log line and counts of each request, whatever its outcome.
struct RequestLogTests {
    private final class Book: RequestLog {
        let lines = Mutex<[RequestLine]>([])
        let outcomes = Mutex<[RequestOutcome]>([])
        func write(_ line: RequestLine) { lines.withLock { $0.append(line) } }
    }

    private let book = Book()

    private var handler: RouteHandler {
        var configuration = RouteHandler.Configuration()
        configuration.makeRequestID = { "made" }
        let routes = [
            Route(.get, "/things/{id}") { _, _ in .json([:]) },
            Route(.get, "/waits") { _, context in
                try await Task.sleep(for: .seconds(60))
                return .json([:])
            },
            Route(.get, "/drops") { _, context in
                context.dropConnection()
                return .json([:])
            },
        ]
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        return RouteHandler(
            routes: routes,
            configuration: configuration,
            logger: quiet,
            log: book,
            observe: { [book] outcome in book.outcomes.withLock { $0.append(outcome) } }
        )
    }

    private func line() throws -> RequestLine {
        let lines = book.lines.withLock { $0 }
        #expect(lines.count == 1 && book.outcomes.withLock { $0.count } == 1)
        return try #require(lines.first)
    }

    @Test func `A request is logged with its route`() async throws {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let headers: HTTPFields = [try #require(.init("traceparent")): parent, .requestID: "asked"]
        _ = try await HandlerClient(handler).send(.get, "/things/private?query=private", headers: headers)
        let line = try line()
        #expect(line.method == "GET" && line.route == "/things/{id}" && line.status == 200 && line.code == nil)
        #expect(line.requestID == "asked" && line.traceID == "0af7651916cd43dd8448eb211c80319c")
        let outcome = try #require(book.outcomes.withLock { $0.first })
        #expect(outcome.method == "GET" && outcome.route == 0 && outcome.status == 200)
    }

    @Test func `A request without a route is logged without its path`() async throws {
        _ = try await HandlerClient(handler).send(try #require(.init("ABCDEFGHIJKLMNOPQRST")), "/private")
        let line = try line()
        #expect(line.method == "ABCDEFGHIJKLMNOP" && line.route == nil && line.code == "METHOD_UNKNOWN")
        #expect(line.traceID.count == 32 && line.requestID == "made")
    }

    @Test(arguments: HTTPError.allCases)
    func `A framing error is logged, counted and answered`(fault: HTTPError) async throws {
        var head = HTTPRequestHead(method: .get, target: "/things/1")
        head.fault = fault
        let answer = try #require(await HandlerClient(handler).answer(to: head))
        let expected =
            switch fault {
            case .transferEncodingUnknown, .methodUnknown: 501
            case .headTooLarge: 431
            case .targetTooLong: 414
            case .version: 505
            case .headTimeout: 408
            case .malformed, .hostCount, .hostMalformed, .contentLengthInvalid, .transferEncodingInvalid: 400
            }
        #expect(answer.status.code == expected && answer.closesConnection)
        #expect(answer.headers[.contentType] == "application/problem+json" && answer.text.contains(fault.rawValue))
        #expect(answer.headers[.requestID] == "made" && answer.headers[.cacheControl] == "no-store")
        let line = try line()
        #expect(line.status == expected && line.code == fault.rawValue && line.route == nil)
    }

    @Test func `A client that disconnects ends its request`() async throws {
        let client = HandlerClient(handler)
        let asking = Task { await client.answer(to: HTTPRequestHead(method: .get, target: "/waits")) == nil }
        try await Task.sleep(for: .milliseconds(50))
        asking.cancel()
        #expect(await asking.value)
        #expect(try line().route == "/waits")
    }

    @Test func `A dropped connection has no answer`() async throws {
        #expect(await HandlerClient(handler).answer(to: HTTPRequestHead(method: .get, target: "/drops")) == nil)
        #expect(try line().route == "/drops")
    }
}
