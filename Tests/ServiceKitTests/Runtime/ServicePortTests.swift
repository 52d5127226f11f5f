import API
import Connect
import HTTP
import HTTPTypes
import RPC
import Testing

@testable import ServiceKit

/// The protocols that a service's port serves besides gRPC, and under which host names.
struct ServicePortTests {
    private static let keys = ServicePortKeys(program: "identity")
    private static let origin = "http://localhost:3000"

    private static func configuration(_ values: [String: String]) throws -> Configuration {
        try .testing(keys: keys.all, program: "identity", values)
    }

    /// A handler of a port that answers health checks.
    private static func handler(_ values: [String: String]) throws -> (any HTTPHandler)? {
        var router = Router()
        router.add(HealthService(services: []))
        return keys.handler(try configuration(values), router)
    }

    /// The answer to a health check by Connect in JSON.
    private static func check(
        _ handler: any HTTPHandler,
        method: HTTPRequest.Method = .post,
        _ fields: KeyValuePairs<String, String> = [:]
    ) async throws -> HTTPAnswer {
        var all = Metadata(fields)
        all.add("content-type", "application/json")
        let head = HTTPRequestHead(method: method, target: "/grpc.health.v1.Health/Check", fields: all)
        return try #require(
            await InProcessExchange.answer(of: handler, to: head, body: method == .post ? Array("{}".utf8) : [])
        )
    }

    @Test func `Only gRPC is served unless more is configured`() throws {
        #expect(try Self.handler([:]) == nil)
        #expect(try Self.handler(["VESTIBULE_IDENTITY_CONNECT": "false"]) == nil)
    }

    @Test func `Connect is served if it is configured, and no page may read the answers`() async throws {
        let handler = try #require(try Self.handler(["VESTIBULE_IDENTITY_CONNECT": "true"]))
        let answer = try await Self.check(handler, ["origin": Self.origin])
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"status":"NOT_SERVING"}"#)
        #expect(answer.fields.first("access-control-allow-origin") == nil)
        let preflight = try await Self.check(
            handler,
            method: .options,
            ["origin": Self.origin, "access-control-request-method": "POST"]
        )
        #expect(preflight.status == 404 && preflight.fields.first("access-control-allow-origin") == nil)
        let page = HTTPRequestHead(method: .get, target: "/")
        #expect(await InProcessExchange.answer(of: handler, to: page)?.status == 404)
    }

    @Test func `Pages of allowed origins may call`() async throws {
        let values = ["VESTIBULE_IDENTITY_CONNECT": "true", "VESTIBULE_IDENTITY_ORIGINS": Self.origin]
        let handler = try #require(try Self.handler(values))
        let preflight = try await Self.check(
            handler,
            method: .options,
            ["origin": Self.origin, "access-control-request-method": "POST"]
        )
        #expect(preflight.status == 204)
        #expect(preflight.fields.first("access-control-allow-origin") == Self.origin)
        #expect(preflight.fields.first("access-control-allow-methods") == "GET, POST")
        #expect(preflight.fields.first("access-control-allow-headers")?.contains("Connect-Protocol-Version") == true)
        let answer = try await Self.check(handler, ["origin": Self.origin])
        #expect(answer.status == 200 && answer.fields.first("access-control-allow-origin") == Self.origin)
        for stranger in ["http://localhost:3001", "null", "http://localhost:3000.evil.example"] {
            let answer = try await Self.check(handler, ["origin": stranger])
            #expect(answer.fields.first("access-control-allow-origin") == nil)
            #expect(answer.fields.first("vary") == "Origin")
        }
    }

    @Test func `A port answers to configured names, and to any name if callers have certificates`() throws {
        let nothing = try Self.configuration([:])
        #expect(Self.keys.names(nothing, asksForCertificates: false) == [])
        #expect(Self.keys.names(nothing, asksForCertificates: true) == nil)
        let names = try Self.configuration(["VESTIBULE_IDENTITY_SERVER_NAMES": "identity.example.internal, b.c"])
        #expect(Self.keys.names(names, asksForCertificates: true) == ["identity.example.internal", "b.c"])
        let any = try Self.configuration(["VESTIBULE_IDENTITY_SERVER_NAMES": "*"])
        #expect(Self.keys.names(any, asksForCertificates: false) == nil)
    }

    @Test(arguments: ["*", "null", "localhost:3000", "http://localhost:3000/", "HTTP://A", "http://", "http://a b"])
    func `An invalid origin is reported`(origin: String) throws {
        let values = ["VESTIBULE_IDENTITY_CONNECT": "true", "VESTIBULE_IDENTITY_ORIGINS": origin]
        #expect(try Self.keys.faults(Self.configuration(values)).map(\.key) == ["VESTIBULE_IDENTITY_ORIGINS"])
    }

    @Test func `Origins without Connect are an error`() throws {
        let faults = try Self.keys.faults(Self.configuration(["VESTIBULE_IDENTITY_ORIGINS": Self.origin]))
        #expect(faults.map(\.problem) == ["needs VESTIBULE_IDENTITY_CONNECT=true"])
        #expect(try Self.keys.faults(Self.configuration([:])).isEmpty)
    }
}
