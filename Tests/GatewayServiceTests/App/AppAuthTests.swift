import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `vestibule.app.v1.AuthService`.
struct AppAuthTests {
    private let gateway = TestGateway()

    private func credentials() -> AppV1.SignInWithProviderRequest {
        .with {
            $0.provider = "apple"
            $0.idToken = "t"
        }
    }

    @Test func `Everything that a provider gave goes to identity by its name`() async throws {
        let seen = Mutex<IdentityV1.SignInRequest?>(nil)
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let response = try await AppClients(gateway).auth.signInWithProvider(
            .with {
                ($0.provider, $0.idToken, $0.nonce, $0.authorizationCode) = ("keycloak", "t", "n", "c")
                ($0.accessToken, $0.clientID, $0.redirectUri, $0.codeVerifier) = ("a", "i", "r", "v")
                ($0.fullName, $0.email, $0.deviceName, $0.create) = ("f", "e", "d", false)
            }
        )
        #expect(
            seen.withLock { $0 }
                == .with {
                    ($0.provider, $0.idToken, $0.nonce, $0.authorizationCode) = ("keycloak", "t", "n", "c")
                    ($0.accessToken, $0.clientID, $0.redirectUri, $0.codeVerifier) = ("a", "i", "r", "v")
                    ($0.fullName, $0.email, $0.deviceName, $0.create) = ("f", "e", "d", false)
                }
        )
        #expect(
            response
                == .with {
                    ($0.tokens.accessToken, $0.tokens.refreshToken, $0.tokens.idToken) = ("at", "rt", "it")
                    ($0.tokens.userID, $0.tokens.sessionID) = (
                        StubServices.userID, StubServices.tokens.sessionID
                    )
                    ($0.tokens.expiresInSeconds, $0.tokens.tokenType) = (900, "Bearer")
                    ($0.isNewUser, $0.missingFields) = (true, ["phone_number"])
                    $0.suggestedDisplayName = "Maria Santos"
                }
        )
    }

    @Test func `Whether somebody new gets an account is identity's to decide where the app says nothing`() async throws
    {
        let seen = Mutex<IdentityV1.SignInRequest?>(nil)
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        _ = try await AppClients(gateway).auth.signInWithProvider(credentials())
        #expect(seen.withLock { $0?.hasCreate } == false)
    }

    @Test func `A provider that is not configured is not found`() async throws {
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(
                    .notFound,
                    reason: "PROVIDER_UNKNOWN",
                    message: "No provider of this name is configured."
                )
            }
        }
        let error = try await refusal { _ = try await AppClients(gateway).auth.signInWithProvider(credentials()) }
        #expect(error.code == .notFound && error.reason == "PROVIDER_UNKNOWN")
        #expect(error.message == "No provider of this name is configured.")
    }

    @Test func `A profile that is down loses no tokens`() async throws {
        gateway.stubs.profile.set { $0.getProfile = { _, _ in throw RPCError(.unavailable, "down") } }
        let auth = try AppClients(gateway).auth
        let opened = try await auth.signInWithProvider(credentials())
        #expect(opened.tokens.refreshToken == "rt" && opened.missingFieldsUnknown && opened.missingFields.isEmpty)
        let continued = try await auth.refreshSession(.with { $0.refreshToken = "old" })
        #expect(continued.tokens.refreshToken == "rt" && continued.missingFieldsUnknown)
    }

    @Test func `A session is continued`() async throws {
        let asked = Mutex<IdentityV1.RefreshRequest?>(nil)
        gateway.stubs.identity.set {
            $0.refresh = { request, _ in
                asked.withLock { $0 = request }
                return .with {
                    $0.tokens = StubServices.tokens
                    $0.suggestedDisplayName = "Maria Santos"
                    $0.callerProofs = StubServices.proofs
                }
            }
        }
        let before = IdentityV1.RefreshRequest(presentedNow: "").presentedAtMilliseconds
        let response = try await AppClients(gateway).auth.refreshSession(.with { $0.refreshToken = "old" })
        let call = try #require(asked.withLock { $0 })
        #expect(call.refreshToken == "old" && call.presentedAtMilliseconds >= before)
        #expect(response.tokens.refreshToken == "rt" && response.suggestedDisplayName == "Maria Santos")
        #expect(response.missingFields == ["phone_number"] && !response.missingFieldsUnknown)
    }

    @Test func `Signing out ends the session of either token`() async throws {
        let asked = Mutex<[IdentityV1.SignOutRequest]>([])
        gateway.stubs.identity.set {
            $0.signOut = { request, _ in
                asked.withLock { $0.append(request) }
                return .init()
            }
        }
        let auth = try AppClients(gateway).auth
        _ = try await auth.signOut(.init(), options: AppClients.options("bearer expired.access.token"))
        _ = try await auth.signOut(.with { $0.refreshToken = "rt" }, options: AppClients.asUser)
        #expect(
            asked.withLock { $0 } == [
                .with { $0.accessToken = "expired.access.token" }, .with { $0.refreshToken = "rt" },
            ]
        )
        let nobody = try await refusal { _ = try await auth.signOut(.init()) }
        #expect(nobody.code == .unauthenticated && nobody.reason == "AUTHENTICATION_REQUIRED")
        // An app that has lost its token must not believe that it signed out.
        let empty = try await refusal { _ = try await auth.signOut(.with { $0.refreshToken = "" }) }
        #expect(empty.code == .invalidArgument && empty.reason == "REQUEST_INVALID")
        #expect(empty.fieldViolations.map(\.field) == ["refresh_token"])
        #expect(asked.withLock { $0.count } == 2)
    }
}
