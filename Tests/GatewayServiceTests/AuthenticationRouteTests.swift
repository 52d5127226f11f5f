import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `/auth/…` and bearer tokens.
struct AuthenticationRouteTests {
    private static let apple =
        #"{"identity_token":"t","nonce":"n","authorization_code":"c","full_name":"M","email":"e"}"#

    @Test func `Apple opens a session`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<IdentityV1.SignInRequest?>(nil)
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.send(.post, "/auth/apple", Self.apple)
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "access_token": "at", "refresh_token": "rt", "token_type": "Bearer", "expires_in": 900,
                "id_token": "it",
                "user_id": .string(StubServices.userID), "session_id": "0190c2a5-7f00-7000-8000-000000000002",
                "is_new_user": true, "missing_fields": ["phone_number"], "suggested_display_name": "Maria Santos",
            ]
        )
        #expect(answer.headers[.cacheControl] == "no-store")
        let request = try #require(seen.withLock { $0 })
        #expect(request.provider == "apple")
        #expect(request.idToken == "t" && request.nonce == "n" && request.authorizationCode == "c")
        #expect(request.fullName == "M" && request.email == "e")
    }

    @Test func `An audience without ID tokens gets none`() async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                var response = try await usual(request, context)
                response.tokens.idToken = ""
                return response
            }
        }
        let answer = try await gateway.send(.post, "/auth/apple", Self.apple)
        #expect(answer.status == 200)
        #expect(answer.body["id_token"] == nil && answer.body["access_token"] == "at")
    }

    @Test func `Google opens a session`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<IdentityV1.SignInRequest?>(nil)
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.send(.post, "/auth/google", #"{"id_token":"t","nonce":null,"email":"e"}"#)
        #expect(answer.status == 200)
        let request = try #require(seen.withLock { $0 })
        #expect(request.provider == "google" && request.idToken == "t" && request.nonce.isEmpty && request.email == "e")
    }

    @Test(arguments: [
        ("/auth/apple", "{}", ["identity_token"]),
        (
            "/auth/apple", #"{"identity_token":1,"nonce":7,"full_name":{},"email":[],"create":"no"}"#,
            [
                "identity_token", "nonce", "full_name", "email", "create",
            ]
        ),
        ("/auth/apple", #"{"identity_token":"","authorization_code":null,"access_token":""}"#, ["identity_token"]),
        ("/auth/google", #"{"nonce":5}"#, ["nonce"]),
        ("/auth/google", #"{"nonce":"5"}"#, ["id_token"]),
        ("/auth/keycloak", #"{"client_id":"a"}"#, ["id_token"]),
        ("/auth/refresh", "{}", ["refresh_token"]),
        ("/auth/sign-out", #"{"refresh_token":7}"#, ["refresh_token"]),
    ])
    func `Wrong forms are named`(path: String, body: String, fields: [String]) async throws {
        let gateway = TestGateway()
        let answer = try await gateway.send(.post, path, body)
        #expect(answer.status == 400)
        #expect(answer.code == "REQUEST_INVALID")
        #expect(answer.fields == fields)
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `Refreshing answers the same form`() async throws {
        let gateway = TestGateway()
        let asked = Mutex<[IdentityV1.RefreshRequest]>([])
        gateway.stubs.identity.set { answers in
            answers.refresh = { request, _ in
                asked.withLock { $0.append(request) }
                return IdentityV1.RefreshResponse.with {
                    $0.tokens = StubServices.tokens
                    $0.callerProofs = StubServices.proofs
                }
            }
        }
        let before = IdentityV1.RefreshRequest(presentedNow: "").presentedAtMilliseconds
        let answer = try await gateway.send(.post, "/auth/refresh", #"{"refresh_token":"old"}"#)
        let call = try #require(asked.withLock { $0.first })
        #expect(call.refreshToken == "old")
        #expect(call.presentedAtMilliseconds >= before)
        #expect(answer.status == 200)
        #expect(answer.body["is_new_user"] == false)
        #expect(answer.body["suggested_display_name"] == .null)
        #expect(answer.body["refresh_token"] == "rt")
        #expect(answer.body["missing_fields"] == ["phone_number"])
        #expect(gateway.stubs.calls == ["Refresh", "GetProfile"])
    }

    @Test func `A profile that is down loses no tokens`() async throws {
        let gateway = TestGateway()
        gateway.stubs.profile.set { $0.getProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        for (path, body) in [("/auth/apple", Self.apple), ("/auth/refresh", #"{"refresh_token":"old"}"#)] {
            let answer = try await gateway.send(.post, path, body)
            #expect(answer.status == 200)
            #expect(answer.body["refresh_token"] == "rt")
            #expect(answer.body["missing_fields"] == .null)
        }
    }

    @Test(arguments: [
        "TOKEN_EXPIRED", "TOKEN_AUDIENCE", "TOKEN_ISSUER", "TOKEN_UNSIGNED", "TOKEN_SIGNATURE", "TOKEN_NONCE_MISMATCH",
        "TOKEN_REPLAYED", "REFRESH_TOKEN_REUSED",
    ])
    func `A refused token says why`(reason: String) async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in throw RPCError.domain(.unauthenticated, reason: reason, message: "It was refused.") }
        }
        let answer = try await gateway.send(.post, "/auth/apple", Self.apple)
        #expect(answer.status == 401)
        #expect(answer.type == "application/problem+json")
        #expect(answer.code == reason)
        #expect(answer.body["detail"] == "It was refused.")
        #expect(answer.headers[.wwwAuthenticate] == #"Bearer realm="vestibule""#)
        #expect(!gateway.stubs.calls.contains("GetProfile"))
    }

    @Test func `Signing out takes either token`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[IdentityV1.SignOutRequest]>([])
        gateway.stubs.identity.set { answers in
            answers.signOut = { request, _ in
                seen.withLock { $0.append(request) }
                return .init()
            }
        }
        let byBearer = try await gateway.send(.post, "/auth/sign-out", token: "expired")
        #expect(byBearer.status == 204 && byBearer.body.members.isEmpty)
        #expect(try await gateway.send(.post, "/auth/sign-out", #"{"refresh_token":"r"}"#).status == 204)
        #expect(try await gateway.send(.post, "/auth/sign-out", "{}", token: "a").status == 204)
        #expect(seen.withLock { $0.map(\.token) } == [.accessToken("expired"), .refreshToken("r"), .accessToken("a")])
        let neither = try await gateway.send(.post, "/auth/sign-out")
        #expect(neither.status == 401)
        #expect(neither.code == "AUTHENTICATION_REQUIRED")
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/me"), (.patch, "/me"), (.get, "/groups"), (.post, "/groups"),
        (.get, "/groups/g/members"), (.post, "/groups/g/members"),
    ])
    func `A user's path needs a live session`(method: HTTPRequest.Method, path: String) async throws {
        let gateway = TestGateway()
        let without = try await gateway.send(method, path)
        #expect(without.status == 401)
        #expect(without.code == "AUTHENTICATION_REQUIRED")
        #expect(without.headers[.wwwAuthenticate] == #"Bearer realm="vestibule""#)
        let refused = try await gateway.send(method, path, token: "expired")
        #expect(refused.status == 401)
        #expect(refused.code == "ACCESS_TOKEN_EXPIRED")
        #expect(refused.headers[.wwwAuthenticate] == #"Bearer realm="vestibule", error="invalid_token""#)
        #expect(gateway.stubs.calls == ["CheckSession"])
    }

    @Test(arguments: ["Basic YTpi", "good.access.token", ""])
    func `Another scheme is no token`(header: String) async throws {
        let answer = try await TestGateway().send(.get, "/me", headers: [.authorization: header])
        #expect(answer.status == 401)
        #expect(answer.code == "AUTHENTICATION_REQUIRED")
    }

    @Test(arguments: [
        "Bearer", "Bearer a b", "Bearer a,b", "Bearer \"a\"", "Bearer " + String(repeating: "a", count: 8193),
    ])
    func `A malformed token goes nowhere`(header: String) async throws {
        let gateway = TestGateway()
        let answer = try await gateway.send(.get, "/me", headers: [.authorization: header])
        #expect(answer.status == 401)
        #expect(answer.code == "ACCESS_TOKEN_INVALID")
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `A token has no byte that none may have, wherever it stands`() throws {
        let allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="
        var wrong: [String] = []
        for byte in UInt8(0x21)...0x7e {
            for place in [0, 7, 15, 16, 20, 31, 32, 36] {
                let (before, after) = (String(repeating: "a", count: place), String(repeating: "Z", count: 36 - place))
                let token = before + String(UnicodeScalar(byte)) + after
                var metadata = Metadata()
                metadata.add("authorization", "Bearer " + token)
                let read = try? Authentication.token(RequestFields(metadata))
                if read != (allowed.utf8.contains(byte) ? token : nil) { wrong.append(token) }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: ["bearer", "BEARER", "Bearer"])
    func `The scheme is compared without case`(scheme: String) async throws {
        let answer = try await TestGateway().send(
            .get,
            "/me",
            headers: [.authorization: "\(scheme) \(StubServices.accessToken)"]
        )
        #expect(answer.status == 200)
    }
}
