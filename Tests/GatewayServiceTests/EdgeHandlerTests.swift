import HTTP
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Logging
import RPC
import Testing

@testable import GatewayService

/// RPCs and routes behind one handler, as browsers of other origins call them.
struct EdgeHandlerTests {
    private static let page = "http://localhost:3000"
    private static let getMe = "/vestibule.app.v1.AccountService/GetMe"
    private static let getKeySet = "/vestibule.app.v1.KeyService/GetKeySet"

    private static func client(_ policy: RateLimit.Policy = .init(), strict: Int64 = 0) throws -> HandlerClient {
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let gateway = TestGateway(rateLimit: policy).gateway
        var configuration = RouteHandler.Configuration()
        configuration.strictTransportSeconds = strict
        configuration.crossOrigin = CrossOrigin(
            origins: [page],
            requestFields: GatewaySettings.crossOriginFields,
            answerFields: GatewaySettings.crossOriginAnswerFields
        )
        let router = try gateway.router(timeLimit: .seconds(60), logger: quiet)
        return HandlerClient(gateway.edge(router, configuration, HTTPLimits(), logger: quiet))
    }

    private static func call(
        _ client: HandlerClient,
        _ path: String,
        origin: String? = page,
        type: String = "application/json",
        body: [UInt8] = Array("{}".utf8)
    ) async throws -> HandlerClient.Answer {
        var headers: HTTPFields = [.contentType: type, .authorization: "Bearer \(StubServices.accessToken)"]
        headers[.origin] = origin
        return try await client.send(.post, path, headers: headers, body: body)
    }

    @Test func `A page of an allowed origin calls by Connect`() async throws {
        let answer = try await Self.call(try Self.client(strict: 300), Self.getMe)
        #expect(answer.status == .ok && answer.headers[.contentType] == "application/json")
        let me = try JSONObject(parsing: answer.body)
        #expect(me["profile"]?.object?["userId"]?.string == StubServices.userID)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.page && answer.headers[.vary] == "Origin")
        let readable = try #require(answer.headers[.accessControlExposeHeaders])
        #expect(readable.contains("grpc-status-details-bin") && readable.contains("retry-after"))
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(answer.headers[.strictTransportSecurity] == "max-age=300")
    }

    @Test func `A page calls by gRPC-Web`() async throws {
        // An empty frame.
        let frame: [UInt8] = [0, 0, 0, 0, 0]
        let answer = try await Self.call(try Self.client(), Self.getMe, type: "application/grpc-web+proto", body: frame)
        #expect(answer.status == .ok && answer.headers[.accessControlAllowOrigin] == Self.page)
        #expect(String(decoding: answer.body.suffix(200), as: UTF8.self).contains("grpc-status: 0"))
    }

    @Test(arguments: [(getMe, "POST"), (getKeySet, "GET, POST"), ("/me", "DELETE, GET, HEAD, PATCH")])
    func `A preflight lists what the page may send`(path: String, methods: String) async throws {
        let headers: HTTPFields = [.origin: Self.page, .accessControlRequestMethod: "POST"]
        let answer = try await Self.client().send(.options, path, headers: headers)
        #expect(answer.status == .noContent && answer.headers[.accessControlAllowMethods] == methods)
        let sent = try #require(answer.headers[.accessControlAllowHeaders]?.split(separator: ", "))
        for name in ["authorization", "content-type", "connect-protocol-version", "connect-timeout-ms", "x-grpc-web"] {
            #expect(sent.count { $0 == name } == 1, "\(name)")
        }
    }

    @Test(arguments: [nil, "null", "http://localhost", "https://evil.example"])
    func `Pages of other origins can't read answers`(origin: String?) async throws {
        let client = try Self.client()
        let answer = try await Self.call(client, Self.getMe, origin: origin)
        #expect(answer.status == .ok && answer.headers[.accessControlAllowOrigin] == nil)
        #expect(answer.headers[.vary] == "Origin")
        var headers: HTTPFields = [.accessControlRequestMethod: "POST"]
        headers[.origin] = origin
        let preflight = try await client.send(.options, Self.getMe, headers: headers)
        #expect(preflight.status == .notFound && preflight.headers[.accessControlAllowMethods] == nil)
    }

    @Test func `RPCs and routes share the limit of an address`() async throws {
        let policy = RateLimit.Policy(address: RequestRate(perSecond: 0.01, burst: 2))
        let client = try Self.client(policy)
        #expect(try await Self.call(client, Self.getKeySet).status == .ok)
        #expect(try await client.send(.get, "/healthz").status == .ok)
        let limited = try await Self.call(client, Self.getKeySet)
        #expect(limited.status == .tooManyRequests)
        #expect(try JSONObject(parsing: limited.body)["code"] == "resource_exhausted")
        #expect(limited.headers[.accessControlAllowOrigin] == Self.page)
        let headers: HTTPFields = [.origin: Self.page, .accessControlRequestMethod: "POST"]
        #expect(try await client.send(.options, Self.getMe, headers: headers).status == .tooManyRequests)
    }

    @Test(arguments: ["application/json", "application/proto", "application/grpc-web+proto"])
    func `A malformed message counts for its address, and has an id`(type: String) async throws {
        let client = try Self.client(RateLimit.Policy(address: RequestRate(perSecond: 0.01, burst: 2)))
        let isWeb = type.hasPrefix("application/grpc-web")
        let body: [UInt8] = isWeb ? [0, 0, 0, 0, 1, 0xff] : [0xff]
        let id = try #require(HTTPField.Name(isWeb ? "x-request-id" : "trailer-x-request-id"))
        for code in ["invalid", "invalid", "exhausted"] {
            let answer = try await Self.call(client, Self.getKeySet, type: type, body: body)
            let status = answer.headers[try #require(HTTPField.Name("grpc-status"))]
            if isWeb {
                #expect(status == (code == "invalid" ? "3" : "8"))
            } else {
                #expect(answer.status == (code == "invalid" ? .badRequest : .tooManyRequests))
            }
            #expect(answer.headers[id]?.utf8.count == 32)
        }
        #expect(try await client.send(.get, "/healthz").status == .tooManyRequests)
    }

    @Test func `A request that is neither is answered with a problem`() async throws {
        let client = try Self.client()
        #expect(try await client.send(.get, "/nothing").headers[.contentType] == "application/problem+json")
        var head = HTTPRequestHead(method: .post, target: Self.getMe)
        head.fault = .hostCount
        let refused = try #require(await client.answer(to: head))
        #expect(refused.status == .badRequest && refused.text.contains("HOST_COUNT"))
    }

    @Test func `The gateway's health depends on its services`() async throws {
        let client = try Self.client()
        let answer = try await Self.call(client, "/grpc.health.v1.Health/Check")
        #expect(answer.status == .ok && answer.text.contains("SERVING"))
        let unknown = try await Self.call(client, "/grpc.health.v1.Health/Check", body: Array(#"{"service":"x"}"#.utf8))
        #expect(unknown.status == .notFound)
    }
}
