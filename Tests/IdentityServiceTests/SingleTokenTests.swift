import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import IdentityService

struct SingleTokenTests {
    private static let day: Int64 = 86_400

    @Test func `A sign-in answers a single token and no other`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            #expect(!tokens.singleToken.isEmpty)
            #expect(tokens.accessToken.isEmpty && tokens.refreshToken.isEmpty && tokens.idToken.isEmpty)
            #expect(tokens.expiresInSeconds == 30 * Self.day)
            let answer = try await service.check(tokens.singleToken)
            #expect(answer.userID == tokens.userID && answer.sessionID == tokens.sessionID)
            #expect(answer.expiresAtSeconds == service.clock.nowSeconds + 30 * Self.day)
            let forSession = try await service.signInSingle(style: .singleForSession)
            #expect(forSession.expiresInSeconds == 180 * Self.day)
        }
    }

    @Test func `No single token outlives its session`() async throws {
        var limits = SessionLimits()
        limits.absoluteSeconds = 40 * Self.day
        try await TestService.run(limits: limits) { service in
            let tokens = try await service.signInSingle()
            service.clock.advance(seconds: 20 * Self.day)
            let renewed = try await service.renew(tokens.singleToken)
            #expect(renewed.expiresInSeconds == 20 * Self.day)
            service.clock.advance(seconds: 20 * Self.day)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                _ = try await service.check(renewed.singleToken)
            }
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") {
                _ = try await service.renew(renewed.singleToken)
            }
        }
    }

    @Test func `A single token expires on time, and can be renewed afterwards`() async throws {
        var limits = SessionLimits()
        limits.singleTokenSeconds = 2 * Self.day
        try await TestService.run(limits: limits) { service in
            let tokens = try await service.signInSingle()
            service.clock.advance(seconds: 2 * Self.day - 1)
            _ = try await service.check(tokens.singleToken)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                _ = try await service.check(tokens.singleToken)
            }
            let renewed = try await service.renew(tokens.singleToken)
            #expect(renewed.sessionID == tokens.sessionID && renewed.userID == tokens.userID)
            #expect(renewed.expiresInSeconds == 2 * Self.day)
            #expect(renewed.accessToken.isEmpty && renewed.refreshToken.isEmpty && renewed.idToken.isEmpty)
            #expect(renewed.accountNumber > 0)
            _ = try await service.check(renewed.singleToken)
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `Renewing takes nothing away and can be repeated`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            service.clock.advance(seconds: Self.day)
            let first = try await service.renew(tokens.singleToken)
            let second = try await service.renew(tokens.singleToken)
            #expect(first == second)
            for token in [tokens.singleToken, first.singleToken] { _ = try await service.check(token) }
        }
    }

    @Test func `The style survives renewal`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle(style: .singleForSession)
            service.clock.advance(seconds: Self.day)
            #expect(try await service.renew(tokens.singleToken).expiresInSeconds == 179 * Self.day)
        }
    }

    @Test func `A user who uses the app stays signed in, and an inactive user is signed out`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle(style: .singleForSession)
            for _ in 0..<6 {
                service.clock.advance(seconds: 29 * Self.day)
                _ = try await service.check(tokens.singleToken)
            }
            let other = try await service.signInSingle(subject: "002.person", style: .singleForSession)
            service.clock.advance(seconds: 30 * Self.day - 1)
            _ = try await service.check(other.singleToken)
            service.clock.advance(seconds: 30 * Self.day)
            for call in [service.checkOnly, service.renewOnly] {
                await expectFailure(.unauthenticated, "SESSION_EXPIRED") { try await call(other.singleToken) }
            }
        }
    }

    @Test func `An expired token is renewed within the inactivity limit and not beyond it`() async throws {
        var limits = SessionLimits()
        limits.singleTokenSeconds = Self.day
        try await TestService.run(limits: limits) { service in
            let tokens = try await service.signInSingle()
            service.clock.advance(seconds: 30 * Self.day - 1)
            let renewed = try await service.renew(tokens.singleToken)
            // The renewal was a use: the session lives for as long again.
            service.clock.advance(seconds: 30 * Self.day - 1)
            _ = try await service.renew(renewed.singleToken)
            service.clock.advance(seconds: 30 * Self.day)
            for token in [tokens.singleToken, renewed.singleToken] {
                await expectFailure(.unauthenticated, "SESSION_EXPIRED") { _ = try await service.renew(token) }
            }
        }
    }

    @Test func `A use counts where sessions end within the hour`() async throws {
        var limits = SessionLimits()
        limits.inactivitySeconds = 3_600
        try await TestService.run(limits: limits) { service in
            let tokens = try await service.signInSingle()
            for _ in 0..<4 {
                service.clock.advance(seconds: 3_400)
                _ = try await service.check(tokens.singleToken)
            }
            service.clock.advance(seconds: 3_600)
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") { _ = try await service.check(tokens.singleToken) }
        }
    }

    @Test func `A session that is over refuses its single token at once`() async throws {
        try await TestService.run { service in
            let signedOut = try await service.signInSingle(subject: "a")
            try await service.signOut(accessToken: signedOut.singleToken)
            for call in [service.checkOnly, service.renewOnly] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await call(signedOut.singleToken) }
            }
            let gone = try await service.signInSingle(subject: "b")
            let ended = try await service.signInSingle(subject: "c")
            _ = try await service.database.execute(
                "DELETE FROM accounts WHERE user_id = \(try #require(UserID(gone.userID)).uuid)"
            )
            service.clock.advance(seconds: 1)
            try await service.endAllSessions()
            for call in [service.checkOnly, service.renewOnly] {
                await expectFailure(.unauthenticated, "SESSION_INVALID") { try await call(gone.singleToken) }
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await call(ended.singleToken) }
            }
        }
    }

    @Test func `Nothing else is taken for one`() async throws {
        try await TestService.run { service in
            let other = try await service.signIn().tokens
            for token in ["", "a.b.c", other.accessToken, other.idToken, other.refreshToken] {
                await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { _ = try await service.renew(token) }
            }
            let tokens = try await service.signInSingle()
            for call in [service.checkOnly, service.renewOnly] {
                await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                    try await call(tokens.singleToken + "A")
                }
            }
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                _ = try await service.refresh(tokens.singleToken)
            }
        }
    }

    @Test func `A token made with our key for another session's id is refused`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            let other = try await service.signInSingle(subject: "002.person")
            let mint = service.parts.methods.mint
            let claims = try mint.singleTokens.verifiedClaims(other.singleToken)
            // Ids are known to backends; the nonce is in the session's row and in its own tokens only.
            let forged = mint.singleToken(
                userID: try #require(UserID(tokens.userID)),
                sessionID: try #require(SessionID(tokens.sessionID)),
                nonce: claims.nonce,
                style: .renewed,
                sessionEndsAtSeconds: claims.expiresAtSeconds
            )
            let swapped = mint.singleToken(
                userID: try #require(UserID(tokens.userID)),
                sessionID: try #require(SessionID(other.sessionID)),
                nonce: claims.nonce,
                style: .renewed,
                sessionEndsAtSeconds: claims.expiresAtSeconds
            )
            for token in [forged.singleToken, swapped.singleToken] {
                for call in [service.checkOnly, service.renewOnly] {
                    await expectFailure(.unauthenticated, "SESSION_INVALID") { try await call(token) }
                }
            }
        }
    }

    @Test func `A verifier with our published keys rejects single tokens`() async throws {
        try await TestService.run { service in
            let token = try await service.signInSingle().singleToken
            let keys = try await service.client.getJWKS(IdentityV1.GetJWKSRequest()).jwksJson
            #expect(!keys.contains("oct") && !keys.contains("HS256"))
            #expect(throws: JWSError.unsupportedAlgorithm) { _ = try CompactJWS(parsing: token) }
            #expect(throws: IdentityError.accessTokenInvalid) {
                _ = try service.settings.issuer.verifiedAccessClaims(token)
            }
        }
    }

}

extension TestService {
    fileprivate func checkOnly(_ token: String) async throws { _ = try await check(token) }
    fileprivate func renewOnly(_ token: String) async throws { _ = try await renew(token) }
}
