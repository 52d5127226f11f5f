import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `DELETE /me`, and the same by RPC and by an operator.
struct DeleteMeTests {
    @Test func `A deletion passes the token to identity, and calls no other service before`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[IdentityV1.DeleteAccountRequest]>([])
        gateway.stubs.identity.set {
            $0.deleteAccount = { request, _ in
                seen.withLock { $0.append(request) }
                return .init()
            }
        }
        let answer = try await gateway.sendAsUser(.delete, "/me")
        #expect(answer.status == 204)
        _ = try await AppClients(gateway).account.deleteMe(.init(), options: AppClients.asUser)
        #expect(seen.withLock { $0.map(\.accessToken) } == [StubServices.accessToken, StubServices.accessToken])
    }

    @Test func `The answer lists the consents that the user must withdraw`() async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set { $0.deleteAccount = { _, _ in .with { $0.consentsLeft = ["apple"] } } }
        let answer = try await gateway.sendAsUser(.delete, "/me")
        #expect(answer.status == 200 && answer.body == ["consents_left": ["apple"]])
        let response = try await AppClients(gateway).account.deleteMe(.init(), options: AppClients.asUser)
        #expect(response.consentsLeft == ["apple"])
    }

    @Test func `Without a token no account is deleted`() async throws {
        let gateway = TestGateway()
        #expect(try await gateway.send(.delete, "/me", token: "").status == 401)
        let error = try await refusal { _ = try await AppClients(gateway).account.deleteMe(.init()) }
        #expect(error.code == .unauthenticated && error.reason == "AUTHENTICATION_REQUIRED")
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `A session that was opened too long ago is rejected`() async throws {
        let gateway = TestGateway()
        let told = RPCError.domain(
            .permissionDenied,
            reason: "RECENT_SIGN_IN_REQUIRED",
            message: "This needs a sign-in of the last minutes. Sign in again, then do it."
        )
        gateway.stubs.identity.set { $0.deleteAccount = { _, _ in throw told } }
        let answer = try await gateway.sendAsUser(.delete, "/me")
        #expect(answer.status == 403 && answer.body["code"] == "RECENT_SIGN_IN_REQUIRED")
        let error = try await refusal {
            _ = try await AppClients(gateway).account.deleteMe(.init(), options: AppClients.asUser)
        }
        #expect(error.code == .permissionDenied && error.reason == "RECENT_SIGN_IN_REQUIRED")
    }

    @Test func `Credentials in the body are passed to identity like those of a sign-in`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[IdentityV1.DeleteAccountRequest]>([])
        gateway.stubs.identity.set {
            $0.deleteAccount = { request, _ in
                seen.withLock { $0.append(request) }
                return .init()
            }
        }
        let body =
            #"{"provider":"apple","identity_token":"t","nonce":"n","authorization_code":"c","client_id":"i","#
            + #""redirect_uri":"r","code_verifier":"v"}"#
        #expect(try await gateway.sendAsUser(.delete, "/me", body).status == 204)
        let credentials = AppV1.SignInWithProviderRequest.with {
            ($0.provider, $0.idToken, $0.nonce, $0.authorizationCode) = ("apple", "t", "n", "c")
            ($0.clientID, $0.redirectUri, $0.codeVerifier) = ("i", "r", "v")
        }
        _ = try await AppClients(gateway).account.deleteMe(
            .with { $0.credentials = credentials },
            options: AppClients.asUser
        )
        let expected = IdentityV1.DeleteAccountRequest.with {
            $0.accessToken = StubServices.accessToken
            ($0.credentials.provider, $0.credentials.idToken, $0.credentials.nonce) = ("apple", "t", "n")
            ($0.credentials.authorizationCode, $0.credentials.clientID) = ("c", "i")
            ($0.credentials.redirectUri, $0.credentials.codeVerifier) = ("r", "v")
        }
        #expect(seen.withLock { $0 } == [expected, expected])
    }

    @Test(arguments: [
        "{}", #"{"create":true}"#, #"{"id_token":null}"#, #"{"provider":null,"id_token":null,"nonce":null}"#,
    ])
    func `A body without credentials deletes by the session`(body: String) async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set {
            $0.deleteAccount = { request, _ in
                #expect(!request.hasCredentials)
                return .init()
            }
        }
        #expect(try await gateway.sendAsUser(.delete, "/me", body).status == 204)
    }

    @Test func `Incomplete credentials are rejected with their field, without a call`() async throws {
        let gateway = TestGateway()
        let bodies = [
            (#"{"authorization_code":"c"}"#, ["provider"]), (#"{"id_token":"t","nonce":"n"}"#, ["provider"]),
            (#"{"provider":"apple"}"#, ["id_token"]), (#"{"provider":7,"id_token":"t"}"#, ["provider"]),
            (#"{"nonce":"n"}"#, ["provider"]), (#"{"code_verifier":"v"}"#, ["provider"]),
            (#"{"client_id":"i"}"#, ["provider"]), (#"{"redirect_uri":"r"}"#, ["provider"]),
            (#"{"id_token":""}"#, ["provider"]), (#"{"provider":"apple","nonce":"n"}"#, ["id_token"]),
            (#"{"provider":"apple","id_token":null,"code_verifier":"v"}"#, ["id_token"]),
            (#"{"create":7}"#, ["create"]),
        ]
        for (body, fields) in bodies {
            let answer = try await gateway.sendAsUser(.delete, "/me", body)
            #expect(answer.status == 400 && answer.fields == fields, "\(body)")
        }
        #expect(try await gateway.sendAsUser(.delete, "/me", "[]").status == 400)
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [
        (#"{"idToken":"t","authorizationCode":"c","nonce":"n"}"#, ["authorizationCode", "idToken"]),
        (#"{"reason":"I moved"}"#, ["reason"]), (#"{"idToken":"t"}"#, ["idToken"]),
        (#"{"id_token":null,"code":"c"}"#, ["code"]),
    ])
    func `A body with an unknown field deletes nobody`(body: String, fields: [String]) async throws {
        let gateway = TestGateway()
        let answer = try await gateway.sendAsUser(.delete, "/me", body)
        #expect(answer.status == 400 && answer.code == "REQUEST_INVALID")
        #expect(Set(answer.fields).isSuperset(of: fields))
        #expect(gateway.stubs.calls.isEmpty)
    }

    @Test func `An unknown provider is not found, like at a sign-in`() async throws {
        let gateway = TestGateway()
        let unknown = RPCError.domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "There is none.")
        gateway.stubs.identity.set { $0.deleteAccount = { _, _ in throw unknown } }
        let answer = try await gateway.sendAsUser(.delete, "/me", #"{"provider":"myspace","id_token":"t"}"#)
        #expect(answer.status == 404 && answer.code == "PROVIDER_UNKNOWN" && answer.fields.isEmpty)
        let error = try await refusal {
            _ = try await AppClients(gateway).account.deleteMe(
                .with { ($0.credentials.provider, $0.credentials.idToken) = ("myspace", "t") },
                options: AppClients.asUser
            )
        }
        #expect(error.code == .notFound && error.reason == "PROVIDER_UNKNOWN")
    }

    @Test func `A scheduled deletion is accepted, with its time`() async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set { $0.deleteAccount = { _, _ in .with { $0.deletesAtMs = 1_769_903_999_123 } } }
        let answer = try await gateway.sendAsUser(.delete, "/me")
        #expect(answer.status == 202 && answer.body == ["deletes_at": "2026-01-31T23:59:59.123Z"])
        let response = try await AppClients(gateway).account.deleteMe(.init(), options: AppClients.asUser)
        #expect(response.deletesAt == .init(seconds: 1_769_903_999, nanos: 123_000_000))
    }

    @Test func `A scheduled deletion is cancelled by the user of the token`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[String]>([])
        gateway.stubs.identity.set {
            $0.cancelDeletion = { request, _ in
                seen.withLock { $0.append(request.accessToken) }
                return .init()
            }
        }
        #expect(try await gateway.sendAsUser(.delete, "/me/deletion").status == 204)
        _ = try await AppClients(gateway).account.cancelDeletion(.init(), options: AppClients.asUser)
        #expect(seen.withLock { $0 } == [StubServices.accessToken, StubServices.accessToken])
        #expect(try await gateway.send(.delete, "/me/deletion", token: "").status == 401)
        let error = try await refusal { _ = try await AppClients(gateway).account.cancelDeletion(.init()) }
        #expect(error.code == .unauthenticated && error.reason == "AUTHENTICATION_REQUIRED")
    }

    private static let admin = "/auth/v1/admin/users/\(StubServices.userID)"
    private static let serviceKey = "service-key-of-32-bytes-or-more-1"

    @Test(arguments: ["", "{}", #"{"should_soft_delete":false}"#, #"{"should_soft_delete":null}"#])
    func `The service key deletes any user`(body: String) async throws {
        let gateway = TestGateway.speaking(.supabase, serviceKey: Self.serviceKey)
        let seen = Mutex<[String]>([])
        gateway.stubs.identity.set {
            $0.removeAccount = { request, _ in
                seen.withLock { $0.append(request.userID) }
                return .init()
            }
        }
        let answer = try await gateway.send(.delete, Self.admin, body.isEmpty ? nil : body, token: Self.serviceKey)
        #expect(answer.status == 200 && answer.body == [:])
        #expect(seen.withLock { $0 } == [StubServices.userID])
    }

    @Test func `Another key deletes nobody, and a soft deletion is refused`() async throws {
        let gateway = TestGateway.speaking(.supabase, serviceKey: Self.serviceKey)
        #expect(try await gateway.send(.delete, Self.admin).status == 401)
        #expect(try await gateway.send(.delete, Self.admin, token: StubServices.accessToken).status == 403)
        let soft = try await gateway.send(
            .delete,
            Self.admin,
            #"{"should_soft_delete":true}"#,
            token: Self.serviceKey
        )
        #expect(soft.status == 422 && soft.body["error_code"] == "validation_failed")
        #expect(gateway.stubs.calls.isEmpty)
        let unknown = RPCError.domain(.notFound, reason: "ACCOUNT_NOT_FOUND", message: "There is none.")
        gateway.stubs.identity.set { $0.removeAccount = { _, _ in throw unknown } }
        let missing = try await gateway.send(.delete, Self.admin, token: Self.serviceKey)
        #expect(missing.status == 404 && missing.body["error_code"] == "user_not_found")
    }
}
