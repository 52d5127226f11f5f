import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// Nonces that the server creates for sign-ins.
struct ChallengeTests {
    private let gateway = TestGateway()
    private let seen = Requests()

    init() {
        let seen = seen
        gateway.stubs.identity.set { answers in
            answers.createChallenge = { request, _ in
                seen.all.withLock { $0.append(request) }
                return .with { ($0.nonce, $0.expiresInSeconds) = ("the-nonce", 600) }
            }
        }
    }

    @Test func `The route creates a nonce for a provider's audience, named or not`() async throws {
        let body = #"{"provider":"apple","client_id":"com.example.app"}"#
        let named = try await gateway.send(.post, "/auth/challenge", body)
        #expect(named.status == 200 && named.body == ["nonce": "the-nonce", "expires_in": 600])
        #expect(named.headers[.cacheControl] == "no-store")
        let unnamed = try await gateway.send(.post, "/auth/challenge", #"{"provider":"apple","client_id":null}"#)
        #expect(unnamed.status == 200)
        #expect(seen.all.withLock { $0 }.map(\.clientID) == ["com.example.app", ""])
        for body in ["{}", #"{"provider":1}"#] {
            #expect(try await gateway.send(.post, "/auth/challenge", body).status == 400)
        }
    }

    @Test func `The RPC does the same`() async throws {
        let response = try await AppClients(gateway).auth.createChallenge(
            .with { ($0.provider, $0.clientID) = ("apple", "com.example.app") }
        )
        #expect(response == .with { ($0.nonce, $0.expiresInSeconds) = ("the-nonce", 600) })
        #expect(seen.all.withLock { $0 } == [.with { ($0.provider, $0.clientID) = ("apple", "com.example.app") }])
    }

    @Test func `An unknown provider or audience is reported`() async throws {
        for (error, status) in [
            (RPCError.domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "m"), 404),
            (.domain(.invalidArgument, reason: "CLIENT_UNKNOWN", message: "m", field: "client_id"), 422),
        ] {
            gateway.stubs.identity.set { answers in answers.createChallenge = { _, _ in throw error } }
            let answer = try await gateway.send(.post, "/auth/challenge", #"{"provider":"apple"}"#)
            #expect(answer.status == status && answer.code == error.reason)
        }
    }

    @Test func `Nonces are limited by address`() async throws {
        var policy = RateLimit.Policy()
        policy.auth = RequestRate(perSecond: 0.001, burst: 2)
        let gateway = TestGateway(rateLimit: policy)
        gateway.stubs.identity.set { answers in answers.createChallenge = { _, _ in .init() } }
        var statuses: [Int] = []
        for _ in 0..<3 {
            let body = #"{"provider":"apple"}"#
            statuses.append(try await gateway.send(.post, "/auth/challenge", body, from: "203.0.113.7:1").status)
        }
        #expect(statuses == [200, 200, 429])
    }
}

/// The requests that identity received, from any thread.
private final class Requests: Sendable {
    let all = Mutex<[IdentityV1.CreateChallengeRequest]>([])
}
