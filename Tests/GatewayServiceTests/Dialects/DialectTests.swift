import API
import HTTPJSON
import HTTPTypes
import JOSE
import ServiceKit
import Testing

@testable import GatewayService

/// What all dialects have in common: each can be off, is limited, described and configured.
struct DialectTests {
    private static func routes(_ dialect: Dialect) -> [Route] {
        TestGateway.speaking(dialect, serviceKey: "k").gateway.endpoints.map(\.route)
            .filter { dialect.speaks($0.path) }
    }

    @Test(arguments: Dialect.allCases.filter { $0.pathPrefix != nil })
    func `A disabled dialect has no routes`(dialect: Dialect) async throws {
        let routes = Self.routes(dialect)
        #expect(routes.count >= 4)
        let others = Set(Dialect.allCases).subtracting([dialect])
        let gateway = TestGateway(dialects: DialectSettings(dialects: others))
        for route in routes {
            let answer = try await gateway.send(route.method, route.path.replacing("{id}", with: "x"), "{}", token: "t")
            #expect(answer.status == 404 && answer.code == "ROUTE_NOT_FOUND", "\(route.path)")
            #expect(answer.type == "application/problem+json")
        }
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `No dialect is enabled by default`() {
        let paths = TestGateway().gateway.endpoints.map(\.route.path)
        #expect(!paths.contains { path in Dialect.allCases.contains { $0.speaks(path) } })
    }

    @Test func `Sign-ins of dialects share the limit of our own`() async throws {
        let settings = DialectSettings(dialects: Set(Dialect.allCases))
        let policy = RateLimit.Policy(auth: RequestRate(perSecond: 0.001, burst: 1))
        let paths = [
            "/auth/refresh", "/api/auth/apple", "/api/auth/google", "/api/auth/refresh", "/api/auth/sign-out",
            WordPressTests.loginPath, WordPressTests.registerPath, "/wp-json/gread/v1/auth/logout",
            SupabaseTokenTests.signIn, "/auth/v1/logout",
        ]
        for path in paths {
            let gateway = TestGateway(rateLimit: policy, dialects: settings)
            #expect(try await gateway.send(.post, "/auth/refresh", "{").status == 400)
            let answer = try await gateway.send(.post, path, "{}", token: "t")
            #expect(answer.status == 429, "\(path)")
            #expect(answer.headers[.retryAfter] != nil)
            #expect(gateway.stubs.calls.isEmpty)
        }
    }

    @Test func `A rejection by a limit has each dialect's shape`() async throws {
        let settings = DialectSettings(dialects: Set(Dialect.allCases))
        let policy = RateLimit.Policy(address: RequestRate(perSecond: 0.001, burst: 1))
        let gateway = TestGateway(rateLimit: policy, dialects: settings)
        _ = try await gateway.send(.get, "/healthz")
        let single = try await gateway.send(.post, "/api/auth/apple", "{}")
        #expect(single.status == 429 && single.body["success"] == false && single.body["error"] == "RATE_LIMITED")
        let wordpress = try await gateway.send(.post, WordPressTests.loginPath, "{}")
        #expect(wordpress.status == 429 && wordpress.body["data"] == ["status": 429])
        let supabase = try await gateway.send(.post, SupabaseTokenTests.signIn, "{}")
        #expect(supabase.status == 429 && supabase.body["error_code"] == "over_request_rate_limit")
        let ours = try await gateway.send(.get, "/me")
        #expect(ours.status == 429 && ours.code == "RATE_LIMITED")
    }

    @Test func `An error before a route runs has each dialect's shape`() async throws {
        let gateway = TestGateway(dialects: DialectSettings(dialects: Set(Dialect.allCases)))
        let single = try await gateway.send(.get, "/api/auth/nowhere")
        #expect(single.status == 404 && single.body["error"] == "ROUTE_NOT_FOUND" && single.type == "application/json")
        let method = try await gateway.send(.delete, "/api/auth/refresh")
        #expect(method.status == 405 && method.body["success"] == false && method.headers[.allow] == "POST")
        let supabase = try await gateway.send(.get, "/auth/v1/nowhere")
        #expect(supabase.status == 404 && supabase.body["code"] == 404 && supabase.body["error_code"] == "not_found")
        let text = try await gateway.send(
            .put,
            "/auth/v1/user",
            token: StubServices.accessToken,
            headers: [.contentType: "text/plain"]
        )
        #expect(text.body["code"] == 400, "no body at all")
        let ours = try await gateway.send(.get, "/authentication")
        #expect(ours.type == "application/problem+json")
    }

    @Test func `The services get the client's address`() async throws {
        var policy = RateLimit.Policy()
        policy.trustedProxies = [try #require(IPNetwork("127.0.0.1"))]
        let settings = DialectSettings(dialects: Set(Dialect.allCases))
        let gateway = TestGateway(rateLimit: policy, dialects: settings)
        let bodies = [
            ("/api/auth/apple", #"{"identity_token":"t"}"#), (SupabaseTokenTests.signIn, SupabaseTokenTests.apple),
            (WordPressTests.loginPath, WordPressTests.login),
        ]
        for (path, body) in bodies {
            _ = try await gateway.send(
                .post,
                path,
                body,
                headers: [.forwardedFor: "192.0.2.1"],
                from: "127.0.0.1:4711"
            )
        }
        let told = gateway.stubs.clientAddresses.filter { $0.hasSuffix(" 192.0.2.1") }
        #expect(told == ["SignIn 192.0.2.1", "SignIn 192.0.2.1", "FindAccount 192.0.2.1"])
    }

    @Test func `Every route is described, with its errors' shape`() throws {
        let settings = DialectSettings(dialects: Set(Dialect.allCases), supabaseServiceKey: Secret("k"))
        let endpoints = TestGateway(dialects: settings).gateway.endpoints
        let document = OpenAPI.document(of: endpoints.map(\.operation))
        let components = try #require(document["components"]?.object)
        let responses = try #require(components["responses"]?.object)
        let shapes: [(Dialect, String)] = [
            (.singleToken, "SingleToken"), (.wordpress, "WordPress"), (.supabase, "Supabase"),
        ]
        for (dialect, name) in shapes {
            for endpoint in endpoints where dialect.speaks(endpoint.operation.path) {
                let path = try #require(document["paths"]?.object?[endpoint.operation.path]?.object)
                let method = endpoint.operation.method.rawValue.lowercased()
                let answers = try #require(path[method]?.object?["responses"]?.object)
                let limited = answers["429"]?.object?["$ref"]
                #expect(limited == .string("#/components/responses/\(name)TooManyRequests"))
            }
            let content = responses["\(name)TooManyRequests"]?.object?["content"]?.object
            #expect(content?.members.map(\.name) == ["application/json"])
        }
        let ids = endpoints.map(\.operation.id)
        #expect(Set(ids).count == ids.count)
        try Self.checkReferences(document)
    }

    private static func checkReferences(_ document: JSONObject) throws {
        let text = String(decoding: document.serialized(), as: UTF8.self)
        let references = text.matches(of: #/"\$ref":"#/components/([a-zA-Z]+)/([A-Za-z0-9]+)"/#)
        #expect(references.count > 100)
        for reference in references {
            let kind = document["components"]?.object?[String(reference.1)]?.object
            #expect(kind?[String(reference.2)] != nil, "\(reference.0)")
        }
    }
}
