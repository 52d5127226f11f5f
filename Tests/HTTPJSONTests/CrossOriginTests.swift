import HTTPClients
import HTTPTypes
import JOSE
import Logging
import Synchronization
import Testing

@testable import HTTPJSON

/// Requests of pages of other origins, as browsers send them (WHATWG Fetch section 3.3).
struct CrossOriginTests {
    private static let page = "http://localhost:3000"

    private static func server(_ crossOrigin: CrossOrigin?, admits: Bool = true) -> RouteHandler {
        let routes = [
            Route(.get, "/things/{id}") { _, context in .json(["id": .string(context.parameters.get("id") ?? "")]) },
            Route(.post, "/things/new") { _, _ in .json([:], headers: [.vary: "Accept"]) },
            Route(.get, "/fails") { _, _ in throw Problem(.conflict, code: "TAKEN", detail: "It is taken.") },
            Route(.post, "/posted", isForOtherOrigins: false) { _, _ in .json([:]) },
        ]
        var configuration = RouteHandler.Configuration()
        configuration.crossOrigin = crossOrigin
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let limited = Problem(.tooManyRequests, code: "RATE_LIMITED", detail: "Later.").retryingAfter(.seconds(1))
        return RouteHandler(
            routes: routes,
            configuration: configuration,
            logger: quiet,
            admit: { _, _ in if !admits { throw limited } }
        )
    }

    private static func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        origin: String?,
        asking: String? = nil,
        server: RouteHandler = server(CrossOrigin(origins: [page], requestFields: ["authorization", "content-type"]))
    ) async throws -> HandlerClient.Answer {
        var headers: HTTPFields = [:]
        headers[.origin] = origin
        headers[.accessControlRequestMethod] = asking
        let sent = headers
        return try await HandlerClient(server).send(method, uri, headers: sent)
    }

    @Test func `A page of an allowed origin may send requests, and read answers and problems`() async throws {
        for (method, path, status) in [
            (HTTPRequest.Method.get, "/things/7", 200), (.post, "/things/new", 200), (.get, "/fails", 409),
            (.get, "/nowhere", 404), (.delete, "/fails", 405),
        ] {
            let answer = try await Self.send(method, path, origin: Self.page)
            #expect(answer.status.code == status)
            #expect(answer.headers[.accessControlAllowOrigin] == Self.page)
            #expect(answer.headers[.accessControlExposeHeaders] == "x-request-id, retry-after")
            #expect(answer.headers[.vary]?.contains("Origin") == true)
            #expect(answer.headers[.accessControlAllowCredentials] == nil)
        }
        let limited = try await Self.send(
            .get,
            "/things/7",
            origin: Self.page,
            server: Self.server(CrossOrigin(origins: [Self.page], requestFields: []), admits: false)
        )
        #expect(limited.status == .tooManyRequests)
        #expect(limited.headers[.accessControlAllowOrigin] == Self.page)
    }

    @Test func `A preflight is answered for routes that exist`() async throws {
        let answer = try await Self.send(.options, "/things/7", origin: Self.page, asking: "GET")
        #expect(answer.status == .noContent)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.page)
        #expect(answer.headers[.accessControlAllowMethods] == "GET, HEAD")
        #expect(answer.headers[.accessControlAllowHeaders] == "authorization, content-type")
        #expect(answer.headers[.accessControlMaxAge] == "600")
        #expect(answer.headers[.vary] == "Origin")
        let word = try await Self.send(.options, "/things/new", origin: Self.page, asking: "POST")
        #expect(word.headers[.accessControlAllowMethods] == "POST", "as the router has it")
        for path in ["/nowhere", "/posted", "//things/7", "/things/%2e"] {
            let answer = try await Self.send(.options, path, origin: Self.page, asking: "GET")
            #expect(answer.status.code >= 404)
            #expect(answer.headers[.accessControlAllowMethods] == nil)
        }
    }

    @Test func `A preflight counts like any request`() async throws {
        let limited = Self.server(CrossOrigin(origins: [Self.page], requestFields: []), admits: false)
        let answer = try await Self.send(.options, "/things/7", origin: Self.page, asking: "GET", server: limited)
        #expect(answer.status == .tooManyRequests)
    }

    @Test(arguments: [
        nil, "", "null", "*", "http://localhost", "http://localhost:3000/", "http://LOCALHOST:3000",
        "https://localhost:3000", "http://localhost:30000", "http://localhost:3000, http://evil.example",
        "http://localhost:3000.evil.example",
    ])
    func `Pages of other origins may not`(origin: String?) async throws {
        let answer = try await Self.send(.get, "/things/7", origin: origin)
        #expect(answer.status == .ok)
        #expect(answer.headers[.accessControlAllowOrigin] == nil)
        #expect(answer.headers[.accessControlExposeHeaders] == nil)
        #expect(answer.headers[.vary] == "Origin", "a cache must know that the answer differs")
        let preflight = try await Self.send(.options, "/things/7", origin: origin, asking: "GET")
        #expect(preflight.status == .methodNotAllowed)
        #expect(preflight.headers[.accessControlAllowMethods] == nil)
    }

    @Test func `A route that is not for pages sends them no headers`() async throws {
        let answer = try await Self.send(.post, "/posted", origin: Self.page)
        #expect(answer.status == .ok)
        #expect(answer.headers[.accessControlAllowOrigin] == nil)
    }

    @Test func `Without a list no header about origins is sent`() async throws {
        let answer = try await Self.send(.get, "/things/7", origin: Self.page, server: Self.server(nil))
        #expect(answer.headers[.accessControlAllowOrigin] == nil && answer.headers[.vary] == nil)
        let preflight = try await Self.send(
            .options,
            "/things/7",
            origin: Self.page,
            asking: "GET",
            server: Self.server(nil)
        )
        #expect(preflight.status == .methodNotAllowed)
    }

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])

        var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

        struct Handler: LogHandler {
            let lines: Lines
            var logLevel = Logger.Level.notice
            var metadata = Logger.Metadata()
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) {
                let origin = event.metadata?["origin"].map { "\($0)" } ?? ""
                lines.all.withLock { $0.append("\(event.level) \(event.message) \(origin)") }
            }
        }
    }

    /// The log line about a refused preflight; `setting` is the setting in the configuration.
    private static func lines(_ origin: String, setting: String?) async throws -> [String] {
        let lines = Lines()
        var configuration = RouteHandler.Configuration()
        configuration.crossOrigin = CrossOrigin(origins: [page], requestFields: [])
        configuration.crossOriginSetting = setting
        let routes = [Route(.get, "/things/{id}") { _, _ in .json([:]) }]
        let server = RouteHandler(routes: routes, configuration: configuration, logger: lines.logger)
        for asking in ["GET", nil] {
            _ = try await send(.options, "/things/7", origin: origin, asking: asking, server: server)
        }
        return lines.all.withLock { $0 }
    }

    @Test func `The development log names the setting when a preflight is refused`() async throws {
        let line = "warning pages of this origin may not call; add it to ORIGINS http://localhost:5173"
        #expect(try await Self.lines("http://localhost:5173", setting: "ORIGINS") == [line])
        #expect(try await Self.lines("http://localhost:5173", setting: nil).isEmpty)
        #expect(try await Self.lines(Self.page, setting: "ORIGINS").isEmpty)
        #expect(try await Self.lines("nonsense\u{1b}[31m", setting: "ORIGINS").isEmpty)
    }

    @Test func `A route's own Vary header stays`() async throws {
        let answer = try await Self.send(.post, "/things/new", origin: Self.page)
        #expect(answer.headers[values: .vary] == ["Accept", "Origin"])
    }

    @Test(arguments: [
        "https://app.example.com", "http://localhost:3000", "http://127.0.0.1:3000", "https://[::1]:8443",
        "capacitor://localhost", "chrome-extension://abcdefghijklmnop", "https://xn--bcher-kva.example",
    ])
    func `A valid origin`(text: String) {
        #expect(CrossOrigin.isOrigin(text))
    }

    @Test(arguments: [
        "", "*", "null", "localhost:3000", "https://", "https://app.example.com/", "https://App.example.com",
        "HTTPS://app.example.com", "https://app.example.com:443", "http://app.example.com:80", "https://a.example:0",
        "https://a.example:065", "https://a.example:65536", "https://a.example:", "https://*.example.com",
        "https://a.example?x", "https://a.example#x", "https://u@a.example", "https://a b.example", "https://[::1",
        "https://[]", "https://bücher.example", "https://a.example,https://b.example", "://a",
        "https://" + String(repeating: "a", count: 300),
    ])
    func `An invalid origin`(text: String) {
        #expect(!CrossOrigin.isOrigin(text))
    }
}
