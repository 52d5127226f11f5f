import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `/auth/identities`, and the same by RPC.
struct LinkedProviderTests {
    private let gateway = TestGateway()

    private static let account = IdentityV1.Account.with {
        $0.userID = StubServices.userID
        $0.identities = [
            .with {
                ($0.provider, $0.subject, $0.email, $0.isPrivateEmail) = (
                    "apple", "001.s", "x@privaterelay.appleid.com", true
                )
                ($0.createdAtMs, $0.lastSignInAtMs) = (1_769_903_999_123, 1_769_904_000_000)
            },
            .with {
                ($0.provider, $0.subject, $0.email, $0.disabled) = ("google", "77", "maria@example.com", true)
                ($0.createdAtMs, $0.lastSignInAtMs) = (1, 2)
            },
        ]
    }
    /// Contains neither a subject nor a relay address.
    private static let json: JSONObject = [
        "identities": [
            [
                "provider": "apple", "email": .null, "private_email": true, "linked_at": "2026-01-31T23:59:59.123Z",
                "last_sign_in_at": "2026-02-01T00:00:00.000Z", "disabled": false,
            ],
            [
                "provider": "google", "email": "maria@example.com", "private_email": false,
                "linked_at": "1970-01-01T00:00:00.001Z", "last_sign_in_at": "1970-01-01T00:00:00.002Z",
                "disabled": true,
            ],
        ]
    ]
    private static let messages: [AppV1.LinkedProvider] = [
        .with {
            ($0.provider, $0.isPrivateEmail) = ("apple", true)
            $0.linkedAt = .init(seconds: 1_769_903_999, nanos: 123_000_000)
            $0.lastSignInAt = .init(seconds: 1_769_904_000)
        },
        .with {
            ($0.provider, $0.email, $0.isDisabled) = ("google", "maria@example.com", true)
            $0.linkedAt = .init(seconds: 0, nanos: 1_000_000)
            $0.lastSignInAt = .init(seconds: 0, nanos: 2_000_000)
        },
    ]

    @Test func `The providers are listed in identity's order, without relay addresses`() async throws {
        gateway.stubs.identity.set { $0.getAccount = { _, _ in .with { $0.account = Self.account } } }
        let answer = try await gateway.sendAsUser(.get, "/auth/identities")
        #expect(answer.status == 200 && answer.body == Self.json)
        let told = try await AppClients(gateway).auth.listProviders(.init(), options: AppClients.asUser)
        #expect(told.providers == Self.messages)
        #expect(gateway.stubs.calls == ["CheckSession", "GetAccount", "CheckSession", "GetAccount"])
    }

    @Test func `Credentials are passed to identity like those of a sign-in`() async throws {
        let seen = Mutex<[IdentityV1.LinkProviderRequest]>([])
        gateway.stubs.identity.set {
            $0.linkProvider = { request, _ in
                seen.withLock { $0.append(request) }
                return .with { $0.account = Self.account }
            }
        }
        let answer = try await gateway.sendAsUser(
            .post,
            "/auth/identities/google",
            #"{"identity_token":"t","nonce":"n","authorization_code":"c","client_id":"i","redirect_uri":"r","#
                + #""code_verifier":"v","full_name":"Maria","email":"m@example.com","access_token":"a"}"#
        )
        #expect(answer.status == 200 && answer.body == Self.json)
        let credentials = AppV1.SignInWithProviderRequest.with {
            ($0.provider, $0.idToken, $0.nonce, $0.authorizationCode, $0.clientID) = ("google", "t", "n", "c", "i")
            ($0.redirectUri, $0.codeVerifier, $0.fullName, $0.email) = ("r", "v", "Maria", "m@example.com")
            $0.accessToken = "a"
        }
        let told = try await AppClients(gateway).auth.linkProvider(
            .with { $0.credentials = credentials },
            options: AppClients.asUser
        )
        #expect(told.providers == Self.messages)
        let expected = IdentityV1.LinkProviderRequest.with {
            $0.accessToken = StubServices.accessToken
            ($0.credentials.provider, $0.credentials.idToken, $0.credentials.nonce) = ("google", "t", "n")
            ($0.credentials.authorizationCode, $0.credentials.clientID) = ("c", "i")
            ($0.credentials.redirectUri, $0.credentials.codeVerifier) = ("r", "v")
            ($0.credentials.fullName, $0.credentials.email) = ("Maria", "m@example.com")
            $0.credentials.accessToken = "a"
        }
        #expect(seen.withLock { $0 } == [expected, expected])
        for body in ["{}", #"{"id_token":null}"#, #"{"id_token":7}"#] {
            let refused = try await gateway.sendAsUser(.post, "/auth/identities/google", body)
            #expect(refused.status == 400 && refused.fields == ["id_token"], "\(body)")
        }
    }

    @Test
    func `Identity judges the token with the link: a link ends a guest's session, and the request may come again`()
        async throws
    {
        let gateway = TestGateway.speaking(.supabase)
        gateway.stubs.identity.set {
            $0.checkSession = { _, _ in throw RPCError.refusal("SESSION_REVOKED") }
            $0.linkProvider = { _, _ in
                .with {
                    ($0.account, $0.tokens, $0.callerProofs) = (Self.account, StubServices.tokens, StubServices.proofs)
                }
            }
            $0.getAccount = { _, _ in .with { $0.account = Self.account } }
        }
        let answer = try await gateway.sendAsUser(.post, "/auth/identities/google", #"{"id_token":"t"}"#)
        #expect(answer.status == 200 && answer.body["session"] != nil)
        #expect(try await AppClients(gateway).auth.linkProvider(.init(), options: AppClients.asUser).hasSession)
        let dialect = try await gateway.sendAsUser(
            .post,
            "/auth/v1/token?grant_type=id_token",
            #"{"provider":"google","id_token":"t","link_identity":true}"#
        )
        #expect(dialect.status == 200 && dialect.body["access_token"] == "at")
        #expect(!gateway.stubs.calls.contains("CheckSession"))
    }

    @Test func `If the user's account was absorbed the answer has a session of the other account`() async throws {
        gateway.stubs.identity.set {
            $0.linkProvider = { _, _ in
                .with { ($0.account, $0.tokens) = (Self.account, StubServices.tokens) }
            }
        }
        let answer = try await gateway.sendAsUser(.post, "/auth/identities/google", #"{"id_token":"t"}"#)
        let session = try #require(answer.body["session"]?.object)
        #expect(session["access_token"] == .string(StubServices.tokens.accessToken))
        #expect(session["user_id"] == .string(StubServices.tokens.userID))
        #expect(session["missing_fields"] != nil && session["is_new_user"] == false)
        #expect(answer.body["identities"] == Self.json["identities"])
        let told = try await AppClients(gateway).auth.linkProvider(.init(), options: AppClients.asUser)
        #expect(told.hasSession && told.session.tokens.sessionID == StubServices.tokens.sessionID)
    }

    @Test(arguments: ["PROVIDER_ALREADY_LINKED", "IDENTITY_TAKEN"])
    func `A conflict is reported`(reason: String) async throws {
        gateway.stubs.identity.set {
            $0.linkProvider = { _, _ in throw RPCError.domain(.alreadyExists, reason: reason, message: "No.") }
        }
        let answer = try await gateway.sendAsUser(.post, "/auth/identities/apple", #"{"id_token":"t"}"#)
        #expect(answer.status == 409 && answer.code == reason)
        let error = try await refusal {
            _ = try await AppClients(gateway).auth.linkProvider(.init(), options: AppClients.asUser)
        }
        #expect(error.code == .alreadyExists && error.reason == reason)
    }

    @Test func `A provider is unlinked, unless it is the last or isn't linked`() async throws {
        let seen = Mutex<[IdentityV1.UnlinkProviderRequest]>([])
        gateway.stubs.identity.set {
            $0.unlinkProvider = { request, _ in
                seen.withLock { $0.append(request) }
                switch request.provider {
                case "last":
                    throw RPCError.domain(.failedPrecondition, reason: "LAST_PROVIDER", message: "It is the last.")
                case "none":
                    throw RPCError.domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "No.")
                default: return .init()
                }
            }
        }
        let auth = try AppClients(gateway).auth
        #expect(try await gateway.sendAsUser(.delete, "/auth/identities/google").status == 204)
        let last = try await gateway.sendAsUser(.delete, "/auth/identities/last")
        #expect(last.status == 409 && last.code == "LAST_PROVIDER")
        let none = try await gateway.sendAsUser(.delete, "/auth/identities/none")
        #expect(none.status == 404 && none.code == "PROVIDER_UNKNOWN")
        _ = try await auth.unlinkProvider(.with { $0.provider = "google" }, options: AppClients.asUser)
        let error = try await refusal {
            _ = try await auth.unlinkProvider(.with { $0.provider = "last" }, options: AppClients.asUser)
        }
        #expect(error.code == .failedPrecondition && error.reason == "LAST_PROVIDER")
        #expect(seen.withLock { $0.map(\.provider) } == ["google", "last", "none", "google", "last"])
        #expect(seen.withLock { $0.allSatisfy { $0.accessToken == StubServices.accessToken } })
    }

    @Test func `A provider that was linked too recently is refused with the time when it can be unlinked`()
        async throws
    {
        gateway.stubs.identity.set {
            $0.unlinkProvider = { _, _ in
                throw RPCError.domain(
                    .permissionDenied,
                    reason: "PROVIDER_LINKED_TOO_RECENTLY",
                    message: "Not yet.",
                    retryAfter: .seconds(86_000)
                )
            }
        }
        let answer = try await gateway.sendAsUser(.delete, "/auth/identities/apple")
        #expect(answer.status == 403 && answer.code == "PROVIDER_LINKED_TOO_RECENTLY")
        #expect(answer.headers[.retryAfter] == "86000")
    }

    @Test func `Each route needs a token`() async throws {
        let auth = try AppClients(gateway).auth
        let calls: [() async throws -> Void] = [
            { _ = try await auth.listProviders(.init()) }, { _ = try await auth.linkProvider(.init()) },
            { _ = try await auth.unlinkProvider(.init()) },
        ]
        for call in calls {
            let error = try await refusal(of: call)
            #expect(error.code == .unauthenticated && error.reason == "AUTHENTICATION_REQUIRED")
        }
        for (method, path) in [
            (HTTPRequest.Method.get, "/auth/identities"), (.post, "/auth/identities/google"),
            (.delete, "/auth/identities/google"),
        ] {
            #expect(try await gateway.send(method, path).status == 401)
        }
        #expect(gateway.stubs.calls.isEmpty)
    }
}
