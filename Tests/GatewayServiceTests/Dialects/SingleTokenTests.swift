import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `/api/auth/…`.
struct SingleTokenTests {
    private static let body =
        #"{"identity_token":"t","nonce":"n","userIdentifier":"001234.abcdef.0001","email":"e","name":"M"}"#

    @Test func `Apple opens a session with one token`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        let asked = Asked<IdentityV1.SignInRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.send(.post, "/api/auth/apple", Self.body)
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "success": true, "token": "single.token.one",
                "user": [
                    "id": .string(StubServices.userID), "number": 4711, "email": "maria@example.com", "name": "Maria",
                    "phone": "+639171234567", "is_new_user": true, "missing_fields": [],
                ],
            ]
        )
        let call = try #require(asked.all.first)
        #expect(call.provider == "apple" && call.idToken == "t" && call.nonce == "n")
        #expect(call.expectedSubject == Maria.subject && call.email == "e" && call.fullName == "M")
        #expect(call.tokenStyle == .single && !call.hasCreate && !call.hasUnproven)
        #expect(answer.headers[.cacheControl] == "no-store")
    }

    @Test func `Members may be null or missing`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        let asked = Asked<IdentityV1.SignInRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let bodies = [
            #"{"identity_token":"t"}"#,
            #"{"identity_token":"t","nonce":null,"userIdentifier":null,"email":null,"name":null}"#,
        ]
        for body in bodies { #expect(try await gateway.send(.post, "/api/auth/apple", body).status == 200) }
        let google = try await gateway.send(.post, "/api/auth/google", #"{"id_token":"t","identity_token":null}"#)
        #expect(google.status == 200)
        #expect(asked.all.map(\.provider) == ["apple", "apple", "google"])
        for call in asked.all {
            #expect(call.idToken == "t")
            #expect([call.nonce, call.expectedSubject, call.email, call.fullName] == ["", "", "", ""])
        }
    }

    @Test func `An unknown value is an empty text, not null`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        gateway.stubs.identity.set { $0.getAccount = { _, _ in throw RPCError(.unavailable, "down") } }
        gateway.stubs.profile.set { $0.getProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        let answer = try await gateway.send(.post, "/api/auth/apple", Self.body)
        #expect(answer.status == 200, "the token must not be lost")
        #expect(answer.body["token"] == "single.token.one")
        let user = try #require(answer.body["user"]?.object)
        #expect(user["email"] == "" && user["phone"] == "" && user["name"] == "Maria Santos")
        #expect(user["missing_fields"] == .null)
    }

    @Test func `The token renews itself`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        let checked = Asked<IdentityV1.CheckSessionRequest>()
        gateway.stubs.identity.set { answers in
            answers.checkSession = { request, _ in
                checked.add(request)
                return .with { $0.userID = StubServices.userID }
            }
        }
        let answer = try await gateway.send(.post, "/api/auth/refresh", token: Maria.singleToken)
        #expect(answer.status == 200)
        #expect(answer.body == ["success": true, "token": "single.token.two"])
        #expect(gateway.stubs.calls == ["RenewSingleToken", "CheckSession"])
        #expect(checked.all.map(\.accessToken) == ["single.token.two"])
        #expect(checked.all.map(\.dialect) == ["single-token"])
    }

    @Test func `A token of a session without proof, from another dialect, is not renewed`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        gateway.stubs.identity.set { $0.checkSession = { _, _ in throw RPCError.refusal("SESSION_UNPROVEN") } }
        let answer = try await gateway.send(.post, "/api/auth/refresh", token: Maria.singleToken)
        #expect(answer.status == 401 && answer.body["error"] == "SESSION_UNPROVEN" && answer.body["token"] == nil)
    }

    @Test func `A refused renewal is a 401`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        let answer = try await gateway.send(.post, "/api/auth/refresh", token: "another.single.token")
        #expect(answer.status == 401)
        #expect(
            answer.body == [
                "success": false, "error": "SESSION_EXPIRED", "message": "The session has expired. Sign in again.",
            ]
        )
        #expect(answer.headers[.wwwAuthenticate]?.contains("invalid_token") == true)
        let without = try await gateway.send(.post, "/api/auth/refresh")
        #expect(without.status == 401 && without.body["error"] == "AUTHENTICATION_REQUIRED")
    }

    @Test func `Signing out ends the token's session`() async throws {
        let gateway = TestGateway.speaking(.singleToken)
        let asked = Asked<IdentityV1.SignOutRequest>()
        gateway.stubs.identity.set { answers in
            answers.signOut = { request, _ in
                asked.add(request)
                return .init()
            }
        }
        let answer = try await gateway.send(.post, "/api/auth/sign-out", token: Maria.singleToken)
        #expect(answer.status == 200 && answer.body == ["success": true])
        #expect(asked.all.map(\.accessToken) == [Maria.singleToken])
        #expect(asked.all.map(\.scope) == [.unspecified])
    }

    @Test(arguments: [
        (RPCError.refusal("TOKEN_NONCE_MISSING"), 401, "TOKEN_NONCE_MISSING"),
        (RPCError.refusal("TOKEN_SUBJECT"), 401, "TOKEN_SUBJECT"),
        (RPCError.refusal("TOKEN_REPLAYED"), 401, "TOKEN_REPLAYED"),
        (RPCError.domain(.unavailable, reason: "PROVIDER_UNAVAILABLE", message: "m"), 503, "PROVIDER_UNAVAILABLE"),
        (RPCError(.deadlineExceeded, "late"), 504, "DEADLINE_EXCEEDED"),
        (RPCError(.internalError, "secret"), 500, "INTERNAL"),
    ])
    func `A refusal has its status and says why`(error: RPCError, status: Int, code: String) async throws {
        let gateway = TestGateway.speaking(.singleToken)
        gateway.stubs.identity.set { $0.signIn = { _, _ in throw error } }
        let answer = try await gateway.send(.post, "/api/auth/apple", Self.body)
        #expect(answer.status == status)
        #expect(answer.type == "application/json")
        #expect(answer.body["success"] == false)
        #expect(answer.body["error"] == .string(code))
        #expect(answer.body["message"]?.string?.isEmpty == false)
        #expect(answer.body["message"]?.string?.contains("secret") == false)
        #expect(answer.body.members.count == 3)
        #expect((answer.headers[.retryAfter] != nil) == (status > 500))
    }

    @Test(arguments: [
        (#"{}"#, 400, "REQUEST_INVALID"), (#"{"identity_token":5}"#, 400, "REQUEST_INVALID"),
        (#"{"identity_token":""}"#, 400, "REQUEST_INVALID"),
        (#"{"identity_token":"t","name":{"given":"M"}}"#, 400, "REQUEST_INVALID"),
        (#"{"identity_token":"t","identity_token":"u"}"#, 400, "JSON_MALFORMED"), ("[]", 400, "JSON_MALFORMED"),
        ("{", 400, "JSON_MALFORMED"), ("", 400, "JSON_MALFORMED"),
    ])
    func `A wrong form is refused`(body: String, status: Int, code: String) async throws {
        let gateway = TestGateway.speaking(.singleToken)
        let answer = try await gateway.send(.post, "/api/auth/apple", body)
        #expect(answer.status == status)
        #expect(answer.body["success"] == false && answer.body["error"] == .string(code))
        #expect(gateway.stubs.calls.isEmpty)
    }
}
