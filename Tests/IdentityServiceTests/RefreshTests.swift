import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import TestDatabases
import Testing

@testable import IdentityService

struct RefreshTests {
    @Test func `Refreshing rotates the tokens`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(fullName: "Ana Cruz")
            var token = first.tokens.refreshToken
            var seen: Set = [token]
            for _ in 0..<5 {
                service.clock.advance(seconds: 500)
                let response = try await service.refresh(token)
                #expect(response.tokens.sessionID == first.tokens.sessionID)
                #expect(response.tokens.userID == first.tokens.userID)
                #expect(response.suggestedDisplayName == "Ana Cruz")
                #expect(
                    try await service.check(response.tokens.accessToken).expiresAtSeconds
                        == service.clock.nowSeconds + 600
                )
                token = response.tokens.refreshToken
                #expect(seen.insert(token).inserted)
            }
        }
    }

    @Test func `Concurrent refreshes make one step and get the same successor`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn()
            for _ in 0..<5 {
                let session = try await service.signIn(subject: "p\(service.clock.nowMilliseconds)")
                let responses = try await gather(32) { _ in try await service.refresh(session.tokens.refreshToken) }
                #expect(Set(responses.map(\.tokens.refreshToken)).count == 1)
                let id = try #require(SessionID(session.tokens.sessionID))
                let rows = try await service.database.query(
                    "SELECT generation FROM sessions WHERE session_id = \(id.uuid)"
                )
                #expect(try rows[0].decode(0, as: Int64.self) == 1)
                _ = try await service.refresh(responses[0].tokens.refreshToken)
                service.clock.advance(seconds: 1)
            }
            _ = try await service.refresh(first.tokens.refreshToken)
        }
    }

    /// Inside the statement at the same time: a lock on the row holds them up until both loops' connections wait for it.
    @Test func `Refreshes that overlap agree`() async throws {
        try await TestService.run { service in
            let signIn = try await service.signIn()
            let id = try #require(SessionID(signIn.tokens.sessionID))
            let client = service.client
            var request = IdentityV1.RefreshRequest()
            request.refreshToken = signIn.tokens.refreshToken
            let refreshing = try await service.database.withTransaction { [request] transaction in
                _ = try await transaction.query(
                    "SELECT 1 FROM sessions WHERE session_id = \(id.uuid) FOR UPDATE"
                )
                let refreshing = Task { try await gather(6) { _ in try await client.refresh(request) } }
                try await service.database.waitForLockWaits(2)
                return refreshing
            }
            let responses = try await refreshing.value
            #expect(responses.count == 6)
            #expect(Set(responses.map(\.tokens.refreshToken)).count == 1)
            let rows = try await service.database.query("SELECT generation FROM sessions")
            #expect(try rows[0].decode(0, as: Int64.self) == 1)
        }
    }

    @Test func `A retry within the grace gets the same successor`() async throws {
        try await TestService.run { service in
            let old = try await service.signIn().tokens.refreshToken
            let new = try await service.refresh(old).tokens.refreshToken
            service.clock.advance(seconds: 29)
            #expect(try await service.refresh(old).tokens.refreshToken == new)
            // Nobody has shown the successor: another one beside it.
            service.clock.advance(seconds: 1)
            let sibling = try await service.refresh(old).tokens.refreshToken
            #expect(sibling != new && sibling != old)
        }
    }

    @Test func `Reuse ends the session`() async throws {
        try await TestService.run { service in
            let signIn = try await service.signIn()
            let stolen = signIn.tokens.refreshToken
            let second = try await service.refresh(stolen).tokens.refreshToken
            let third = try await service.refresh(second)
            service.clock.advance(seconds: 31)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") { _ = try await service.refresh(stolen) }
            for token in [stolen, second, third.tokens.refreshToken] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.refresh(token) }
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(third.tokens.accessToken)
            }
            let rows = try await service.database.query("SELECT revoke_reason FROM sessions")
            #expect(try rows[0].decode(0, as: String.self) == "reuse")
            // Signing in again is a new session.
            service.clock.advance(seconds: 1)
            #expect(try await service.signIn().tokens.sessionID != signIn.tokens.sessionID)
        }
    }

    @Test func `Sessions end when unused and at their age`() async throws {
        var limits = SessionLimits()
        limits.inactivitySeconds = 1_000
        limits.absoluteSeconds = 2_500
        try await TestService.run(limits: limits) { service in
            var idle = try await service.signIn(subject: "idle").tokens.refreshToken
            service.clock.advance(seconds: 999)
            idle = try await service.refresh(idle).tokens.refreshToken
            service.clock.advance(seconds: 1_000)
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") { _ = try await service.refresh(idle) }

            var busy = try await service.signIn(subject: "busy").tokens.refreshToken
            for _ in 0..<4 {
                service.clock.advance(seconds: 600)
                busy = try await service.refresh(busy).tokens.refreshToken
            }
            service.clock.advance(seconds: 99)
            let last = try await service.refresh(busy)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") {
                _ = try await service.refresh(last.tokens.refreshToken)
            }
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") {
                _ = try await service.check(last.tokens.accessToken)
            }
        }
    }

    @Test func `Forged tokens are refused`() async throws {
        try await TestService.run { service in
            let signIn = try await service.signIn()
            let id = try #require(SessionID(signIn.tokens.sessionID))
            let stranger = try #require(RefreshKeys([SecureRandom.bytes(32)]))
            let good = try #require(service.settings.refreshKeys.verify(signIn.tokens.refreshToken))
            let forged = [
                "", "vrt1_", "vrt1_AAAA", signIn.tokens.accessToken, stranger.mint(good),
                String(signIn.tokens.refreshToken.dropLast()), signIn.tokens.refreshToken + "A",
            ]
            for token in forged {
                await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") { _ = try await service.refresh(token) }
            }
            // Made with our key, but the row says otherwise: a restored database, or another one.
            let keys = service.settings.refreshKeys
            let foreign = [
                RefreshToken(sessionID: id, number: 0, nonce: SecureRandom.bytes(16)),
                RefreshToken(sessionID: SessionID(high: 1, low: 2), number: 0, nonce: good.nonce),
            ]
            for token in foreign {
                await expectFailure(.unauthenticated, "SESSION_INVALID") {
                    _ = try await service.refresh(keys.mint(token))
                }
            }
            #expect(
                try await service.refresh(signIn.tokens.refreshToken).tokens.sessionID == signIn.tokens.sessionID,
                "none of that touched the session"
            )
        }
    }
}
