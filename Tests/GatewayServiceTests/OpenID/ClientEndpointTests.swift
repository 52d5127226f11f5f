import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The endpoints that clients call: tokens, pushed requests, revocation.
struct ClientEndpointTests {
    static let paths = ["/oauth2/token", "/oauth2/par", "/oauth2/revoke"]
    private static let basic = "Basic " + Base64URL.encode(Array("orders:s%26e%3Ac".utf8))

    /// Has each of the endpoints fail.
    private static func fail(_ stage: OpenIDStage, _ error: String, _ description: String) {
        let failure = IdentityV1.OAuthFailure.with { ($0.error, $0.description_p) = (error, description) }
        stage.gateway.stubs.oauth.set { answers in
            answers.issueTokens = { _, _ in .with { $0.failure = failure } }
            answers.pushAuthorization = { _, _ in .with { $0.failure = failure } }
            answers.revokeClientToken = { _, _ in .with { $0.failure = failure } }
        }
    }

    private static func fail(_ stage: OpenIDStage, _ error: RPCError) {
        stage.gateway.stubs.oauth.set { answers in
            answers.issueTokens = { _, _ in throw error }
            answers.pushAuthorization = { _, _ in throw error }
            answers.revokeClientToken = { _, _ in throw error }
        }
    }

    @Test func `A code is redeemed`() async throws {
        let stage = try OpenIDStage()
        let asked = Mutex<[IdentityV1.IssueTokensRequest]>([])
        stage.gateway.stubs.oauth.set { answers in
            answers.issueTokens = { request, _ in
                asked.withLock { $0.append(request) }
                return .with {
                    ($0.accessToken, $0.refreshToken, $0.idToken) = ("at", "rt", "it")
                    ($0.expiresInSeconds, $0.scope) = (900, "openid offline_access")
                }
            }
        }
        let form = "grant_type=authorization_code&code=c&code_verifier=v"
        let answer = try await stage.post("/oauth2/token", form, headers: [.authorization: Self.basic])
        #expect(answer.status == 200)
        #expect(
            try answer.json == [
                "access_token": "at", "token_type": "Bearer", "expires_in": 900, "scope": "openid offline_access",
                "refresh_token": "rt", "id_token": "it",
            ]
        )
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.pragma] == "no-cache")
        #expect(answer.headers[.contentType] == "application/json")
        let call = try #require(asked.withLock { $0.first })
        #expect(call.parameters.map(\.name) == ["grant_type", "code", "code_verifier"])
        #expect(call.client.basicID == "orders" && call.client.basicSecret == "s&e:c")
        #expect(call.presentedAtMilliseconds > 1_700_000_000_000)
        _ = try await stage.post("/oauth2/token", "client_id=app")
        #expect(asked.withLock { $0.last?.client.hasBasicID } == false)
    }

    @Test func `Tokens that were not granted are absent`() async throws {
        let stage = try OpenIDStage()
        stage.gateway.stubs.oauth.set { $0.issueTokens = { _, _ in .with { $0.accessToken = "at" } } }
        let names = try await stage.post("/oauth2/token", "grant_type=x").json.members.map(\.name)
        #expect(names == ["access_token", "token_type", "expires_in", "scope"])
    }

    @Test func `A request is pushed, and a token is revoked`() async throws {
        let stage = try OpenIDStage()
        stage.gateway.stubs.oauth.set { answers in
            answers.pushAuthorization = { _, _ in .with { ($0.requestUri, $0.expiresInSeconds) = ("urn:x", 60) } }
            answers.revokeClientToken = { request, _ in
                #expect(request.parameters.map(\.value) == ["t"] && request.client.basicID == "orders")
                return .init()
            }
        }
        let pushed = try await stage.post("/oauth2/par", "client_id=c")
        #expect(pushed.status == 201)
        #expect(try pushed.json == ["request_uri": "urn:x", "expires_in": 60])
        let revoked = try await stage.post("/oauth2/revoke", "token=t", headers: [.authorization: Self.basic])
        #expect(revoked.status == 200 && revoked.text.isEmpty && revoked.headers[.cacheControl] == "no-store")
    }

    @Test(arguments: [
        ("invalid_request", 400), ("invalid_grant", 400), ("unauthorized_client", 400), ("unsupported_grant_type", 400),
        ("invalid_scope", 400), ("invalid_target", 400), ("invalid_request_uri", 400), ("invalid_client", 401),
        ("temporarily_unavailable", 503), ("server_error", 500), ("a_new_word", 400),
    ])
    func `Each error of identity has its status`(error: String, status: Int) async throws {
        let stage = try OpenIDStage()
        Self.fail(stage, error, "Why.")
        for path in Self.paths {
            for authorization in [nil, Self.basic] {
                var headers = HTTPFields()
                headers[.authorization] = authorization
                let answer = try await stage.post(path, "a=b", headers: headers)
                #expect(answer.status == status)
                #expect(try answer.json == ["error": .string(error), "error_description": "Why."])
                let isChallenged = answer.headers[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true
                #expect(isChallenged == (status == 401 && authorization != nil))
                #expect((answer.headers[.retryAfter] != nil) == (status == 503))
                #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.pragma] == "no-cache")
            }
        }
    }

    @Test(arguments: paths)
    func `Credentials by HTTP that can't be read are the client's fault`(path: String) async throws {
        let stage = try OpenIDStage()
        for value in ["Bearer t", "Basic", "Basic ====", "Basic " + String(repeating: "A", count: 2000)] {
            let answer = try await stage.post(path, "a=b", headers: [.authorization: value])
            #expect(answer.status == 401 && answer.headers[.wwwAuthenticate]?.hasPrefix("Basic realm=") == true)
            #expect(try answer.json["error"] == "invalid_client")
        }
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: paths)
    func `Only forms are read`(path: String) async throws {
        let stage = try OpenIDStage()
        let json = try await stage.send(.post, path, "{}", headers: [.contentType: "application/json"])
        #expect(json.status == 415)
        #expect(try json.json["error"] == "invalid_request")
        let malformed = try await stage.post(path, "a=%zz")
        #expect(malformed.status == 400 && malformed.headers[.pragma] == "no-cache")
        #expect(try malformed.json["error"] == "invalid_request")
        #expect(try await stage.get(path).status == 405)
    }

    @Test(arguments: paths)
    func `Failed calls are ours, whatever they say`(path: String) async throws {
        let stage = try OpenIDStage()
        for code in [Status.Code.unauthenticated, .permissionDenied, .invalidArgument, .internalError, .unimplemented] {
            Self.fail(stage, RPCError(code, "inner words"))
            let answer = try await stage.post(path, "grant_type=refresh_token")
            #expect(answer.status == 500 && !answer.text.contains("inner words"))
            #expect(try answer.json["error"] == "server_error")
        }
        for code in [Status.Code.unavailable, .deadlineExceeded, .resourceExhausted] {
            Self.fail(stage, RPCError(code, "inner words"))
            let answer = try await stage.post(path, "grant_type=refresh_token")
            #expect(answer.status == 503 && answer.headers[.retryAfter] != nil)
            #expect(try answer.json["error"] == "temporarily_unavailable")
        }
    }

    @Test func `A client isn't asked to send a code again that may be redeemed`() async throws {
        let stage = try OpenIDStage()
        Self.fail(stage, RPCError(.unavailable, "the connection broke"))
        let answer = try await stage.post("/oauth2/token", "grant_type=authorization_code&code=c")
        #expect(answer.status == 500 && answer.headers[.retryAfter] == nil)
        #expect(try answer.json["error"] == "server_error")
    }
}
