import API
import APIDoubles
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// Provider notifications go to identity unchanged, and are acknowledged once it has stored them.
struct ProviderNoticeRouteTests {
    private func post(
        _ gateway: TestGateway,
        _ path: String,
        _ body: String,
        type: String
    ) async throws -> (status: Int, headers: HTTPFields, body: JSONObject) {
        let response = try await HandlerClient(gateway.handler, address: "in-process")
            .send(.post, path, headers: [.contentType: type], body: Array(body.utf8))
        let body = response.body.isEmpty ? JSONObject() : try JSONObject(parsing: response.body)
        return (response.status.code, response.headers, body)
    }

    private func google(
        _ gateway: TestGateway,
        _ body: String = "h.p.s",
        type: String = "application/secevent+jwt"
    ) async throws -> (status: Int, headers: HTTPFields, body: JSONObject) {
        try await post(gateway, "/auth/google/risc", body, type: type)
    }

    @Test func `A message goes to identity as it came`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[IdentityV1.AcceptNoticeRequest]>([])
        gateway.stubs.identity.set { answers in
            answers.acceptNotice = { request, _ in
                seen.withLock { $0.append(request) }
                return .with { $0.knownBefore = true }
            }
        }
        let apple = try await gateway.send(.post, "/auth/apple/notifications", #"{"payload":"h.p.s"}"#)
        #expect(apple.status == 200)
        #expect(try await google(gateway, type: "Application/SecEvent+JWT; charset=utf-8").status == 202)
        #expect(seen.withLock { $0.map(\.provider) } == ["apple", "google"])
        #expect(seen.withLock { $0.map(\.notice) } == ["h.p.s", "h.p.s"])
    }

    @Test(arguments: [
        ("NOTICE_SIGNATURE", "invalid_key"), ("NOTICE_KEY_UNKNOWN", "invalid_key"), ("NOTICE_ISSUER", "invalid_issuer"),
        ("NOTICE_AUDIENCE", "invalid_audience"), ("NOTICE_MALFORMED", "invalid_request"),
        ("NOTICE_EXPIRED", "invalid_request"), ("NOTICE_EARLY", "invalid_request"),
    ])
    func `A notice that identity refuses is a 400, for Google with the errors of RFC 8935`(reason: String, word: String)
        async throws
    {
        let gateway = TestGateway()
        gateway.stubs.identity.set { answers in
            answers.acceptNotice = { _, _ in throw RPCError.domain(.invalidArgument, reason: reason, message: "No.") }
        }
        let told = try await google(gateway)
        #expect(told.status == 400 && told.headers[.contentType] == "application/json")
        #expect(told.headers[.contentLanguage] == "en")
        #expect(told.body == ["err": .string(word), "description": "No.", "code": .string(reason)])
        let apple = try await gateway.send(.post, "/auth/apple/notifications", #"{"payload":"h.p.s"}"#)
        #expect(apple.status == 400 && apple.body["code"] == .string(reason))
    }

    @Test func `A provider that isn't configured has no route`() async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set { answers in
            answers.acceptNotice = { _, _ in
                throw RPCError.domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "None.")
            }
        }
        #expect(try await google(gateway).status == 404)
        #expect(try await gateway.send(.post, "/auth/apple/notifications", #"{"payload":"p"}"#).status == 404)
    }

    @Test func `A notice that can't be stored now must be sent again`() async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set { answers in
            answers.acceptNotice = { _, _ in throw RPCError(.unavailable, "down") }
        }
        let told = try await google(gateway)
        #expect(told.status == 503 && told.headers[.retryAfter] != nil && told.body["err"] == "temporarily_unavailable")
        let apple = try await gateway.send(.post, "/auth/apple/notifications", #"{"payload":"p"}"#)
        #expect(apple.status == 503 && apple.headers[.retryAfter] != nil)
    }

    @Test func `A malformed notice isn't sent to identity`() async throws {
        var gateway = TestGateway()
        gateway.limits.bodyBytesMax = 4096
        #expect(try await google(gateway, type: "application/json").status == 415)
        let long = try await google(gateway, String(repeating: "a", count: 5_000))
        #expect(long.status == 413 && long.body["err"] == "invalid_request")
        for body in ["{}", #"{"payload":""}"#, #"{"payload":1}"#] {
            #expect(try await gateway.send(.post, "/auth/apple/notifications", body).status == 400)
        }
        #expect(
            try await gateway.send(.post, "/auth/apple/notifications", #"{"payload":"a","payload":"b"}"#).status == 400
        )
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `Messages count as sign-ins do for the limits of an address`() async throws {
        var policy = RateLimit.Policy()
        policy.auth = RequestRate(perSecond: 0.001, burst: 1)
        let gateway = TestGateway(rateLimit: policy)
        gateway.stubs.identity.set { answers in answers.acceptNotice = { _, _ in .init() } }
        #expect(try await google(gateway).status == 202)
        let told = try await google(gateway)
        #expect(told.status == 429 && told.headers[.retryAfter] != nil && told.body["err"] == "temporarily_unavailable")
    }
}
