import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `POST /auth/v1/token` and `POST /auth/v1/logout`.
struct SupabaseTokenTests {
    static let signIn = "/auth/v1/token?grant_type=id_token"
    static let refresh = "/auth/v1/token?grant_type=refresh_token"
    static let apple = #"{"provider":"apple","id_token":"t"}"#
    static let old = #"{"refresh_token":"old"}"#

    private static func error(_ status: Int64, _ code: JSONValue, _ message: JSONValue) -> JSONObject {
        ["code": .integer(status), "error_code": code, "msg": message]
    }

    @Test func `An ID token opens a session`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let asked = Asked<IdentityV1.SignInRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let before = UnixTime.nowSeconds()
        let apikey = try #require(HTTPField.Name("apikey"))
        let answer = try await gateway.send(.post, Self.signIn, Self.apple, headers: [apikey: "anon"])
        #expect(answer.status == 200)
        #expect(
            answer.body.members.map(\.name) == [
                "access_token", "token_type", "expires_in", "expires_at", "refresh_token", "user",
            ]
        )
        #expect(answer.body["access_token"] == "at" && answer.body["refresh_token"] == "rt")
        #expect(answer.body["token_type"] == "bearer" && answer.body["expires_in"] == 900)
        let expiry = try #require(answer.body["expires_at"]?.integer)
        #expect(expiry >= before + 900 && expiry <= UnixTime.nowSeconds() + 900)
        #expect(answer.body["user"]?.object == SupabaseUser(account: Maria.account, profile: Maria.profile).json)
        let call = try #require(asked.all.first)
        #expect(call.provider == "apple" && call.idToken == "t" && call.nonce.isEmpty && call.accessToken.isEmpty)
        #expect(call.tokenStyle == .unspecified && !call.hasCreate)
    }

    @Test func `Additional members of clients are ignored or passed on`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let asked = Asked<IdentityV1.SignInRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let body =
            #"{"provider":"google","id_token":"t","nonce":"n","access_token":null,"gotrue_meta_security":{"captcha_token":null}}"#
        #expect(try await gateway.send(.post, Self.signIn, body).status == 200)
        let null = #"{"provider":"apple","id_token":"t","nonce":null}"#
        #expect(try await gateway.send(.post, Self.signIn, null).status == 200)
        #expect(asked.all.map(\.provider) == ["google", "apple"])
        #expect(asked.all.map(\.nonce) == ["n", ""])
    }

    @Test func `A refresh token continues a session`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let asked = Asked<IdentityV1.RefreshRequest>()
        gateway.stubs.identity.set { answers in
            answers.refresh = { request, _ in
                asked.add(request)
                return .with {
                    $0.tokens = StubServices.tokens
                    $0.callerProofs = StubServices.proofs
                }
            }
        }
        let answer = try await gateway.send(.post, Self.refresh, Self.old)
        #expect(answer.status == 200)
        #expect(answer.body["refresh_token"] == "rt")
        #expect(answer.body["user"]?.object?["id"]?.string == StubServices.userID)
        let call = try #require(asked.all.first)
        #expect(call.refreshToken == "old" && call.presentedAtMilliseconds > 0)
    }

    @Test func `The tokens are returned although profile is down`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.profile.set { $0.getProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        for (path, body) in [(Self.signIn, Self.apple), (Self.refresh, Self.old)] {
            let answer = try await gateway.send(.post, path, body)
            #expect(answer.status == 200)
            #expect(answer.body["refresh_token"] == "rt" && answer.body["user"]?.object?["phone"] == "")
        }
    }

    @Test func `If the account can't be read the answer is a 503, after which clients retry`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { $0.getAccount = { _, _ in throw RPCError(.unavailable, "down") } }
        for (path, body) in [(Self.signIn, Self.apple), (Self.refresh, Self.old)] {
            let answer = try await gateway.send(.post, path, body)
            #expect(answer.status == 503 && answer.body["code"] == 503)
        }
    }

    @Test(arguments: [
        ("TOKEN_EXPIRED", "invalid_credentials"), ("TOKEN_NONCE_MISMATCH", "invalid_credentials"),
        ("TOKEN_STALE", "invalid_credentials"), ("TOKEN_REPLAYED", "invalid_credentials"),
    ])
    func `A refused ID token is a 400`(reason: String, code: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { $0.signIn = { _, _ in throw RPCError.refusal(reason) } }
        let answer = try await gateway.send(.post, Self.signIn, Self.apple)
        #expect(answer.status == 400)
        #expect(answer.body == Self.error(400, .string(code), "It was refused."))
        #expect(answer.headers[.wwwAuthenticate] == nil)
    }

    @Test func `A blocked user gets the error of a banned one, in words that clients know`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(.permissionDenied, reason: "ACCOUNT_BLOCKED", message: "The account is blocked.")
            }
        }
        let answer = try await gateway.send(.post, Self.signIn, Self.apple)
        #expect(answer.status == 403)
        #expect(answer.body == Self.error(403, "user_banned", "User is banned"))
    }

    @Test func `An unknown provider is reported as disabled`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "There is none.")
            }
        }
        let answer = try await gateway.send(.post, Self.signIn, #"{"provider":"azure","id_token":"t"}"#)
        #expect(answer.status == 400 && answer.body["error_code"] == "provider_disabled")
    }

    @Test(arguments: [
        ("REFRESH_TOKEN_REUSED", "refresh_token_already_used", "Invalid Refresh Token: Already Used"),
        ("REFRESH_TOKEN_INVALID", "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"),
        ("SESSION_REVOKED", "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"),
        ("SESSION_INVALID", "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"),
        ("SESSION_EXPIRED", "session_expired", "Invalid Refresh Token: Session Expired"),
    ])
    func `A refused refresh token has gotrue's error`(reason: String, code: String, words: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { $0.refresh = { _, _ in throw RPCError.refusal(reason) } }
        let answer = try await gateway.send(.post, Self.refresh, Self.old)
        #expect(answer.status == 400)
        #expect(answer.body == Self.error(400, .string(code), .string(words)))
    }

    @Test(arguments: [
        (RPCError(.internalError, "secret"), 503), (RPCError(.unavailable, "down"), 503),
        (RPCError(.deadlineExceeded, "late"), 504), (RPCError(.resourceExhausted, "many"), 503),
        (RPCError(.unimplemented, "old"), 503),
    ])
    func `A refresh that fails for another reason signs nobody out`(error: RPCError, status: Int) async throws {
        // Clients drop the session for any other status than 502, 503 and 504.
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { $0.refresh = { _, _ in throw error } }
        let answer = try await gateway.send(.post, Self.refresh, Self.old)
        #expect(answer.status == status)
        #expect(answer.body["code"] == .integer(Int64(status)))
        #expect(answer.body["msg"]?.string?.contains("secret") == false)
    }

    @Test func `A refresh beyond the limit signs nobody out`() async throws {
        let gateway = TestGateway.speaking(
            .supabase,
            rateLimit: RateLimit.Policy(auth: RequestRate(perSecond: 0.001, burst: 1))
        )
        #expect(try await gateway.send(.post, Self.refresh, Self.old).status == 200)
        let refresh = try await gateway.send(.post, Self.refresh, Self.old)
        #expect(refresh.status == 503 && refresh.body["error_code"] == "over_request_rate_limit")
        #expect(refresh.headers[.retryAfter] != nil)
        let signIn = try await gateway.send(.post, Self.signIn, Self.apple)
        #expect(signIn.status == 429 && signIn.body["error_code"] == "over_request_rate_limit")
        #expect(signIn.body["code"] == 429 && signIn.headers[.retryAfter] != nil)
    }

    @Test(arguments: [
        (signIn, "{}", "validation_failed"), (signIn, #"{"provider":"apple"}"#, "validation_failed"),
        (signIn, #"{"provider":"apple","id_token":7}"#, "validation_failed"),
        (signIn, #"{"provider":"apple","id_token":"t","nonce":[]}"#, "validation_failed"),
        (signIn, "{", "bad_json"), (signIn, "", "bad_json"), (signIn, "[]", "bad_json"),
        (refresh, "{}", "validation_failed"), (refresh, #"{"refresh_token":""}"#, "validation_failed"),
        ("/auth/v1/token", apple, "unsupported_grant_type"),
        ("/auth/v1/token?grant_type=", apple, "unsupported_grant_type"),
        ("/auth/v1/token?grant_type=password", #"{"email":"e","password":"p"}"#, "unsupported_grant_type"),
    ])
    func `A malformed request is refused`(path: String, body: String, code: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        let answer = try await gateway.send(.post, path, body)
        #expect(answer.status == 400)
        #expect(answer.body["code"] == 400 && answer.body["error_code"] == .string(code))
        #expect(answer.body["msg"]?.string?.isEmpty == false)
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [
        ("?scope=local", IdentityV1.SignOutScope.unspecified), ("?scope=global", .everywhere),
        ("?scope=others", .others), ("", .everywhere), ("?scope=", .everywhere),
    ])
    func `Signing out has three scopes`(query: String, scope: IdentityV1.SignOutScope) async throws {
        let gateway = TestGateway.speaking(.supabase)
        let asked = Asked<IdentityV1.SignOutRequest>()
        gateway.stubs.identity.set { answers in
            answers.signOut = { request, _ in
                asked.add(request)
                return .init()
            }
        }
        let answer = try await gateway.send(.post, "/auth/v1/logout\(query)", token: "a.b.c")
        #expect(answer.status == 204 && answer.body == [:])
        #expect(asked.all.map(\.scope) == [scope] && asked.all.map(\.accessToken) == ["a.b.c"])
    }

    @Test func `Signing out needs a token and a valid scope`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let without = try await gateway.send(.post, "/auth/v1/logout")
        #expect(without.status == 401)
        #expect(
            without.body == Self.error(401, "no_authorization", "This endpoint requires a valid Bearer token")
        )
        let wrong = try await gateway.send(.post, "/auth/v1/logout?scope=all", token: "a.b.c")
        #expect(wrong.status == 400 && wrong.body["error_code"] == "validation_failed")
        #expect(gateway.stubs.calls.isEmpty)
    }
}
