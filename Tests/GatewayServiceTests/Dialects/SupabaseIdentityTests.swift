import API
import APIDoubles
import FoundationEssentials
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `link_identity`, `DELETE /auth/v1/user/identities/{id}`, the code beside a token, and requests that are refused.
struct SupabaseIdentityTests {
    private static let link = #"{"provider":"google","id_token":"t","nonce":"n","link_identity":true}"#
    private static let identities = "/auth/v1/user/identities"

    private static func speaking(
        _ linkProvider: @escaping @Sendable (IdentityV1.LinkProviderRequest) throws -> IdentityV1.LinkProviderResponse
    ) -> TestGateway {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set { answers in
            answers.linkProvider = { request, _ in try linkProvider(request) }
            answers.signIn = { _, _ in
                Issue.record("nobody may be signed in")
                throw RPCError(.internalError, "a second account")
            }
        }
        return gateway
    }

    @Test func `An identity is linked to the bearer token's account, and the answer has a session of it`()
        async throws
    {
        let asked = Asked<IdentityV1.LinkProviderRequest>()
        let gateway = Self.speaking { request in
            asked.add(request)
            return .with {
                $0.account = Maria.account
                $0.tokens = StubServices.tokens
                $0.callerProofs = StubServices.proofs
            }
        }
        let answer = try await gateway.sendAsUser(.post, SupabaseTokenTests.signIn, Self.link)
        #expect(answer.status == 200)
        #expect(answer.body["access_token"] == "at" && answer.body["refresh_token"] == "rt")
        #expect(answer.body["expires_in"] == 900, "clients ignore an answer without these members")
        #expect(answer.body["user"]?.object?["id"]?.string == StubServices.userID)
        let call = try #require(asked.all.first)
        #expect(asked.all.count == 1 && call.accessToken == StubServices.accessToken && call.opensSession)
        #expect(call.credentials.provider == "google" && call.credentials.idToken == "t")
        #expect(call.credentials.nonce == "n")
    }

    @Test func `Without a live session nothing is linked, and nobody is signed in`() async throws {
        let gateway = Self.speaking { _ in throw RPCError(.internalError, "linked") }
        let without = try await gateway.send(.post, SupabaseTokenTests.signIn, Self.link)
        #expect(without.status == 401 && without.body["error_code"] == "no_authorization")
        // Without a session, clients send the app's key as bearer token.
        for (reason, code) in [("ACCESS_TOKEN_INVALID", "bad_jwt"), ("SESSION_REVOKED", "session_not_found")] {
            // Identity judges the token, together with what it does.
            gateway.stubs.identity.set { $0.linkProvider = { _, _ in throw RPCError.refusal(reason) } }
            let answer = try await gateway.send(.post, SupabaseTokenTests.signIn, Self.link, token: "anon")
            #expect(answer.status == 403 && answer.body["error_code"] == .string(code))
        }
        #expect(!gateway.stubs.calls.contains("SignIn"))
    }

    @Test func `An answer without a session is a 503, after which clients retry`() async throws {
        let gateway = Self.speaking { _ in .with { $0.account = Maria.account } }
        let answer = try await gateway.sendAsUser(.post, SupabaseTokenTests.signIn, Self.link)
        #expect(answer.status == 503 && answer.body["access_token"] == nil && answer.headers[.retryAfter] == "1")
    }

    @Test(arguments: [
        (Status.Code.alreadyExists, "IDENTITY_TAKEN", 422, "identity_already_exists"),
        (.alreadyExists, "PROVIDER_ALREADY_LINKED", 422, "provider_already_linked"),
        (.permissionDenied, "RECENT_SIGN_IN_REQUIRED", 400, "reauthentication_needed"),
        (.permissionDenied, "PROOF_REQUIRED", 403, "proof_required"),
        (.unauthenticated, "PROOF_REQUIRED", 403, "proof_required"),
        (.unauthenticated, "TOKEN_NONCE_MISMATCH", 400, "invalid_credentials"),
        (.unauthenticated, "SESSION_EXPIRED", 403, "session_not_found"),
        (.unavailable, "ACCOUNT_HELD", 503, "account_held"),
    ])
    func `A refused link has gotrue's error`(
        status: Status.Code,
        reason: String,
        answered: Int,
        code: String
    ) async throws {
        let gateway = Self.speaking { _ in throw RPCError.domain(status, reason: reason, message: "It is refused.") }
        let answer = try await gateway.sendAsUser(.post, SupabaseTokenTests.signIn, Self.link)
        #expect(answer.status == answered)
        #expect(answer.body["code"] == .integer(Int64(answered)) && answer.body["error_code"] == .string(code))
        #expect(answer.body["msg"]?.string?.isEmpty == false)
    }

    @Test(arguments: [#""true""#, "1", "[]"])
    func `A value that is neither true nor false is refused`(value: String) async throws {
        let gateway = Self.speaking { _ in throw RPCError(.internalError, "linked") }
        let body = #"{"provider":"google","id_token":"t","link_identity":\#(value)}"#
        let answer = try await gateway.sendAsUser(.post, SupabaseTokenTests.signIn, body)
        #expect(answer.status == 400 && answer.body["error_code"] == "validation_failed")
    }

    @Test(arguments: ["false", "null"])
    func `Without link_identity the request signs in, whatever the bearer token`(value: String) async throws {
        let gateway = TestGateway.speaking(.supabase)
        let asked = Asked<IdentityV1.SignInRequest>()
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                asked.add(request)
                return try await usual(request, context)
            }
        }
        let body = #"{"provider":"apple","id_token":"t","authorization_code":"c-1","link_identity":\#(value)}"#
        #expect(try await gateway.send(.post, SupabaseTokenTests.signIn, body, token: "anon").status == 200)
        #expect(
            asked.all.map(\.authorizationCode) == ["c-1"],
            "so that Apple can be revoked when the account is deleted"
        )
        #expect(!gateway.stubs.calls.contains("LinkProvider") && !gateway.stubs.calls.contains("CheckSession"))
    }

    @Test func `An identity is unlinked by its id`() async throws {
        let gateway = TestGateway.speaking(.supabase)
        let asked = Asked<IdentityV1.UnlinkProviderRequest>()
        gateway.stubs.identity.set { answers in
            answers.unlinkProvider = { request, _ in
                asked.add(request)
                return .init()
            }
        }
        let id = SupabaseUser.identityID(Maria.account.identities[0])
        let answer = try await gateway.sendAsUser(.delete, "\(Self.identities)/\(id.uppercased())")
        #expect(answer.status == 200 && answer.body == [:])
        #expect(asked.all.map(\.provider) == ["apple"])
        #expect(asked.all.map(\.accessToken) == [StubServices.accessToken])
        let unknown = try await gateway.sendAsUser(.delete, "\(Self.identities)/x")
        #expect(unknown.status == 422 && unknown.body["error_code"] == "identity_not_found")
        #expect(asked.all.count == 1)
        let last = RPCError.domain(.failedPrecondition, reason: "LAST_PROVIDER", message: "It is the last.")
        gateway.stubs.identity.set { $0.unlinkProvider = { _, _ in throw last } }
        let refused = try await gateway.sendAsUser(.delete, "\(Self.identities)/\(id)")
        #expect(refused.status == 422 && refused.body["error_code"] == "single_identity_not_deletable")
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, "/signup", 422, "signup_disabled"), (.post, "/otp", 422, "otp_disabled"),
        (.post, "/magiclink", 422, "otp_disabled"), (.post, "/verify", 422, "otp_disabled"),
        (.get, "/verify?token=t", 422, "otp_disabled"), (.post, "/resend", 422, "otp_disabled"),
        (.get, "/reauthenticate", 422, "otp_disabled"), (.post, "/recover", 422, "email_provider_disabled"),
        (.get, "/user/identities/authorize?provider=google", 404, "manual_linking_disabled"),
        (.get, "/authorize?provider=google", 400, "oauth_provider_not_supported"),
        (.get, "/callback", 400, "oauth_provider_not_supported"), (.post, "/sso", 404, "saml_provider_disabled"),
        (.get, "/saml/metadata", 404, "saml_provider_disabled"), (.get, "/factors", 422, "mfa_totp_enroll_not_enabled"),
        (.post, "/factors/f/challenge", 422, "mfa_totp_enroll_not_enabled"),
        (.post, "/passkeys/authentication/options", 422, "mfa_webauthn_enroll_not_enabled"),
        (.post, "/invite", 422, "not_supported"), (.get, "/admin/users?page=1", 422, "not_supported"),
        (.post, "/admin/users", 422, "not_supported"),
        (.post, "/admin/generate_link", 422, "not_supported"), (.get, "/oauth/authorize", 422, "not_supported"),
        (.get, "/signups", 404, "not_found"), (.delete, "/token", 405, "method_not_allowed"),
    ])
    func `An unsupported route says so`(
        method: HTTPRequest.Method,
        path: String,
        status: Int,
        code: String
    ) async throws {
        let key = "service-key-of-32-bytes-or-more-1"
        for gateway in [TestGateway.speaking(.supabase), .speaking(.supabase, serviceKey: key)] {
            let answer = try await gateway.send(method, "/auth/v1\(path)", "{}", token: key)
            #expect(answer.status == status, "\(path)")
            #expect(answer.body["code"] == .integer(Int64(status)) && answer.body["error_code"] == .string(code))
            #expect(answer.body["msg"]?.string?.isEmpty == false)
            #expect(gateway.stubs.calls.isEmpty)
        }
    }

    @Test func `A path that supports other methods lists them`() async throws {
        let key = "service-key-of-32-bytes-or-more-1"
        let gateway = TestGateway.speaking(.supabase, serviceKey: key)
        for method in [HTTPRequest.Method.put, .trace] {
            let answer = try await gateway.send(method, "/auth/v1/admin/users/x", "{}", token: key)
            #expect(answer.status == 405 && answer.body["error_code"] == "not_supported")
            #expect(answer.headers[.allow]?.contains("DELETE") == true)
        }
        let answer = try await TestGateway.speaking(.supabase).send(.put, "/auth/v1/admin/users/x", "{}", token: key)
        #expect(answer.status == 422 && answer.body["error_code"] == "not_supported")
    }

    @Test func `The documentation lists every refusal`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path = "docs/apps/supabase-dialect.md"
        let page = String(decoding: try Data(contentsOf: root.appending(path: path)), as: UTF8.self)
        for refusal in SupabaseRefusal.all {
            let row = page.split(separator: "\n").contains { line in
                line.hasPrefix("| ") && line.contains("`\(refusal.path)")
                    && line.contains("\(refusal.status.code) `\(refusal.code)`")
            }
            #expect(row, "\(refusal.path)")
        }
    }
}
