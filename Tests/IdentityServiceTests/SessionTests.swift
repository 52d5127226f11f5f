import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import Testing

@testable import IdentityService

struct SessionTests {
    @Test func `Access tokens expire on time`() async throws {
        try await TestService.run { service in
            let token = try await service.signIn().tokens.accessToken
            service.clock.advance(seconds: 599)
            _ = try await service.check(token)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") { _ = try await service.check(token) }
        }
    }

    @Test func `Only access tokens are accepted`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            for token in ["", "a.b.c", tokens.idToken, tokens.refreshToken, tokens.accessToken + "A"] {
                await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { _ = try await service.check(token) }
            }
        }
    }

    @Test func `Signing out takes effect at once, and can be repeated`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(subject: "a")
            let second = try await service.signIn(subject: "b")
            for _ in 0..<2 {
                try await service.signOut(accessToken: first.tokens.accessToken)
                try await service.signOut(refreshToken: second.tokens.refreshToken)
            }
            for response in [first, second] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.check(response.tokens.accessToken)
                }
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.refresh(response.tokens.refreshToken)
                }
            }
        }
    }

    @Test func `Signing out with old tokens still ends the session`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(subject: "a")
            let refreshed = try await service.refresh(first.tokens.refreshToken)
            service.clock.advance(seconds: 1_000)
            try await service.signOut(refreshToken: first.tokens.refreshToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(refreshed.tokens.refreshToken)
            }
            let second = try await service.signIn(subject: "b")
            service.clock.advance(seconds: 1_000)
            try await service.signOut(accessToken: second.tokens.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(second.tokens.refreshToken)
            }
        }
    }

    @Test func `Signing out without a session succeeds and changes nothing`() async throws {
        try await TestService.run { service in
            let response = try await service.signIn()
            let id = try #require(SessionID(response.tokens.sessionID))
            let wrongNonce = RefreshToken(sessionID: id, number: 0, nonce: SecureRandom.bytes(16))
            try await service.signOut(accessToken: "nonsense")
            try await service.signOut(refreshToken: "nonsense")
            try await service.signOut(refreshToken: service.settings.refreshKeys.mint(wrongNonce))
            _ = try await service.check(response.tokens.accessToken)
            await expectFailure(.invalidArgument, "CREDENTIALS_MISSING") {
                _ = try await service.client.signOut(IdentityV1.SignOutRequest())
            }
        }
    }

    @Test func `A deleted session is invalid`() async throws {
        try await TestService.run { service in
            let response = try await service.signIn()
            _ = try await service.database.execute("DELETE FROM accounts")
            #expect(try await service.count("sessions") == 0)
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.check(response.tokens.accessToken)
            }
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.refresh(response.tokens.refreshToken)
            }
        }
    }

    @Test func `A token verified on an event loop is cached there`() async throws {
        try await TestService.run { service in
            let token = try await service.signIn().tokens.accessToken
            let verified = VerifiedTokens(group: service.group)
            let issuer = service.settings.issuer
            // A service with other keys rejects the token, unless its claims come from the loop's cache.
            let stranger = TokenIssuer(
                issuer: issuer.issuer,
                audience: issuer.audience,
                lifetimeSeconds: 600,
                signingKey: try SigningKey.generateP256(),
                refreshKeys: service.settings.refreshKeys
            )
            let loops = service.group.loops
            let (first, second) = try await Task(executorPreference: loops[0]) {
                let first = try verified.token(token, generation: 0, of: issuer).claims
                return (first, try verified.token(token, generation: 0, of: stranger).claims)
            }.value
            #expect(first == second)
            await #expect(throws: IdentityError.accessTokenInvalid) {
                _ = try await Task(executorPreference: loops[1]) {
                    try verified.token(token, generation: 0, of: stranger).claims
                }.value
            }
            #expect(throws: IdentityError.accessTokenInvalid) {
                _ = try verified.token(token, generation: 0, of: stranger)
            }
            // The key that verified it may be gone.
            await #expect(throws: IdentityError.accessTokenInvalid) {
                _ = try await Task(executorPreference: loops[0]) {
                    try verified.token(token, generation: 1, of: stranger).claims
                }.value
            }
        }
    }

    @Test func `A missing account is not found, and an invalid id is rejected`() async throws {
        try await TestService.run { service in
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.account("00000000-0000-7000-8000-000000000000")
            }
            await expectFailure(.invalidArgument, "USER_ID_INVALID") {
                var request = IdentityV1.LookUpAccountRequest()
                request.userID = "me"
                _ = try await service.client.lookUpAccount(request)
            }
        }
    }

    @Test func `Published keys verify our tokens`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let response = try await service.client.getJWKS(IdentityV1.GetJWKSRequest())
            #expect(response.maxAgeSeconds == 300)
            #expect(!response.jwksJson.contains("\"d\""))
            let keys = try KeySet(parsing: response.jwksJson.utf8)
            for text in [tokens.accessToken, tokens.idToken] {
                let jws = try CompactJWS(parsing: text)
                let keyID = try #require(jws.keyID)
                let key = try #require(keys.key(id: keyID, algorithm: jws.algorithm))
                let claims = try JSONObject(parsing: jws.verifiedPayload(with: key))
                #expect(claims["iss"] == "https://id.example.com")
                #expect(claims["sub"]?.string == tokens.userID)
            }
        }
    }

    @Test func `Cleaning up deletes only expired rows`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let response = try await service.signIn(token: token)
            await service.parts.cleanup.clean()
            #expect(try await service.count("sign_ins") == 1)
            service.clock.advance(seconds: 86_400 + 59)
            await service.parts.cleanup.clean()
            #expect(try await service.count("sign_ins") == 1, "the token would still be accepted")
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
            // A replica whose clock is ten minutes behind accepts it for that much longer.
            service.clock.advance(seconds: 600)
            await service.parts.cleanup.clean()
            service.clock.advance(seconds: -600)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
            service.clock.advance(seconds: 601)
            await service.parts.cleanup.clean()
            #expect(try await service.count("sign_ins") == 0)
            await expectFailure(.unauthenticated, "TOKEN_EXPIRED") { _ = try await service.signIn(token: token) }
            #expect(try await service.count("sessions") == 1)
            try await service.signOut(refreshToken: response.tokens.refreshToken)
            service.clock.advance(seconds: 30 * 86_400 - 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("sessions") == 1)
            service.clock.advance(seconds: 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("sessions") == 0)
        }
    }
}
