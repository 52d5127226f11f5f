import HTTPClients
import HTTPTypes
import JOSE
import Logging
import Testing

@testable import HTTPJSON

/// What surrounds every route, without sockets.
struct HTTPServerTests {
    private struct Surprise: Error {}

    private static func server(
        limits: HTTPLimits = HTTPLimits(requestTimeout: .seconds(60), bodyBytesMax: 64),
        strict: Int64 = 0
    ) -> RouteHandler {
        let routes = [
            Route(.get, "/things/{id}") { _, context in
                .json(["id": .string(context.parameters.get("id") ?? ""), "request": .string(context.requestID)])
            },
            Route(.post, "/things") { request, context in
                var input = try await context.json(request)
                let name = input.string("name")
                let count = input.optionalInteger("count", in: 1...9)
                var nested = input.object("owner")
                let owner = nested.optionalString("nick")
                input.adopt(nested)
                try input.finish()
                return .json(
                    ["name": .string(name), "n": .integer(count ?? 0), "owner": .string(owner ?? "")],
                    status: .created
                )
            },
            Route(.get, "/surprise") { _, _ in throw Surprise() },
            Route(.get, "/cached") { _, _ in .json(["a": 1], headers: [.cacheControl: "max-age=5"]) },
        ]
        var configuration = RouteHandler.Configuration(limits: limits)
        configuration.makeRequestID = { "made" }
        configuration.strictTransportSeconds = strict
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        return RouteHandler(routes: routes, configuration: configuration, logger: quiet)
    }

    private static func send(
        _ method: HTTPRequest.Method,
        _ uri: String,
        headers: HTTPFields = [:],
        body: String? = nil,
        server: RouteHandler = server()
    ) async throws -> (HandlerClient.Answer, JSONObject) {
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        let sent = headers
        let response = try await HandlerClient(server).send(method, uri, headers: sent, body: Array((body ?? "").utf8))
        return (response, try JSONObject(parsing: response.body))
    }

    @Test func `An unknown path is a problem`() async throws {
        let (response, body) = try await Self.send(.get, "/nothing")
        #expect(response.status == .notFound)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(body["code"] == "ROUTE_NOT_FOUND")
        #expect(body["status"] == 404)
        #expect(body["title"] == "Not Found")
        #expect(body["type"] == "about:blank")
    }

    @Test func `Another method is a problem that names those`() async throws {
        let (response, body) = try await Self.send(.delete, "/things/7")
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "GET, HEAD")
        #expect(body["code"] == "METHOD_NOT_ALLOWED")
        let (post, _) = try await Self.send(.get, "/things")
        #expect(post.headers[.allow] == "POST")
    }

    @Test func `A method that nobody knows is a problem on any path`() async throws {
        for uri in ["/things/7", "/nothing"] {
            let (response, body) = try await Self.send(try #require(.init("BREW")), uri)
            #expect(response.status == .notImplemented && body["code"] == "METHOD_UNKNOWN", "\(uri)")
            #expect(response.headers[.allow] == nil)
        }
        // Known, and not here.
        for method in ["TRACE", "PROPFIND", "QUERY"] {
            let (response, body) = try await Self.send(try #require(.init(method)), "/things/7")
            #expect(response.status == .methodNotAllowed && body["code"] == "METHOD_NOT_ALLOWED", "\(method)")
        }
        let (lower, _) = try await Self.send(try #require(.init("get")), "/things/7")
        #expect(lower.status == .notImplemented, "methods have a case (RFC 9110 section 9.1)")
    }

    @Test func `Headers are on every answer`() async throws {
        for uri in ["/things/7", "/nothing", "/surprise"] {
            let (response, _) = try await Self.send(.get, uri, server: Self.server(strict: 300))
            #expect(response.headers[.xContentTypeOptions] == "nosniff")
            #expect(response.headers[.cacheControl] == "no-store")
            #expect(response.headers[.requestID] == "made")
            #expect(response.headers[.strictTransportSecurity] == "max-age=300")
            #expect(response.headers[.referrerPolicy] == "no-referrer")
        }
        let (cached, _) = try await Self.send(.get, "/cached")
        #expect(cached.headers[.cacheControl] == "max-age=5")
        #expect(cached.headers[.strictTransportSecurity] == nil)
    }

    @Test(arguments: [
        ("abc-DEF_1.2", "abc-DEF_1.2"), ("", "made"), ("a b", "made"), (String(repeating: "a", count: 129), "made"),
        (String(repeating: "a", count: 128), String(repeating: "a", count: 128)), ("a\"b", "made"), ("é", "made"),
    ])
    func `A sane request ID is echoed`(sent: String, echoed: String) async throws {
        let (response, body) = try await Self.send(.get, "/things/7", headers: [.requestID: sent])
        #expect(response.headers[.requestID] == echoed)
        #expect(body["request"]?.string == echoed)
    }

    @Test func `An unforeseen error tells nothing`() async throws {
        let (response, body) = try await Self.send(.get, "/surprise")
        #expect(response.status == .internalServerError)
        #expect(body["code"] == "INTERNAL")
        #expect(!body.text.contains("Surprise"))
    }

    @Test func `A good body is read`() async throws {
        let (response, body) = try await Self.send(
            .post,
            "/things",
            headers: [.contentType: "Application/JSON ; charset=utf-8"],
            body: #"{"name":"x","count":3,"owner":{"nick":"n"},"more":[1]}"#
        )
        #expect(response.status == .created)
        #expect(body == ["name": "x", "n": 3, "owner": "n"])
    }

    @Test(arguments: [
        "", "{", "[]", "\"a\"", "nope", #"{"name":"a","name":"b"}"#, "{\"name\":\"a\"} x", #"{"name":"\ud800"}"#,
        "\u{feff}{}", #"{"a":[[[[[[[[1]]]]]]]]}"#,
    ])
    func `Malformed JSON is refused`(text: String) async throws {
        let (response, body) = try await Self.send(.post, "/things", body: text)
        #expect(response.status == .badRequest)
        #expect(body["code"] == "JSON_MALFORMED")
    }

    @Test func `Every fault is named`() async throws {
        let (response, body) = try await Self.send(
            .post,
            "/things",
            body: #"{"name":4,"count":10,"owner":{"nick":false}}"#
        )
        #expect(response.status == .badRequest)
        #expect(body["code"] == "REQUEST_INVALID")
        let fields = try #require(body["fields"]?.array)
        #expect(fields.map { $0.object?["field"]?.string } == ["name", "count", "owner.nick"])
        #expect(fields.map { $0.object?["code"] } == ["WRONG_TYPE", "OUT_OF_RANGE", "WRONG_TYPE"])
        let (_, missing) = try await Self.send(.post, "/things", body: "{}")
        #expect(missing["fields"]?.array?.map { $0.object?["code"] } == ["REQUIRED", "REQUIRED"])
        let (_, empty) = try await Self.send(.post, "/things", body: #"{"name":"","owner":null}"#)
        #expect(empty["fields"]?.array?.map { $0.object?["field"] } == ["name", "owner"])
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
    func `Another content type is refused`(type: String) async throws {
        let (response, body) = try await Self.send(.post, "/things", headers: [.contentType: type], body: "{}")
        #expect(response.status == .unsupportedMediaType)
        #expect(body["code"] == "CONTENT_TYPE_UNSUPPORTED")
    }

    @Test func `An oversize body is refused`() async throws {
        let (response, body) = try await Self.send(.post, "/things", body: String(repeating: " ", count: 65))
        #expect(response.status == .contentTooLarge)
        #expect(body["code"] == "BODY_TOO_LARGE")
        #expect(response.closesConnection)
        let (atLimit, _) = try await Self.send(.post, "/things", body: String(repeating: " ", count: 64))
        #expect(atLimit.status == .badRequest)
    }

    @Test func `Waits are whole seconds and at least one`() {
        let problem = Problem(.serviceUnavailable, code: "X", detail: "x")
        #expect(problem.retryingAfter(.zero).headers[.retryAfter] == "1")
        #expect(problem.retryingAfter(.milliseconds(1500)).headers[.retryAfter] == "2")
        #expect(problem.retryingAfter(.seconds(30)).headers[.retryAfter] == "30")
    }
}
