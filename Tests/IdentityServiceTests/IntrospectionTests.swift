import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Token introspection (RFC 7662).
struct IntrospectionTests {
    private func introspect(
        _ service: TestService,
        _ token: String
    ) async throws -> IdentityV1.IntrospectTokenResponse {
        try await service.client.introspectToken(.with { $0.token = token })
    }

    private let inactive = IdentityV1.IntrospectTokenResponse()

    @Test func `An active token's user, session and expiry are returned`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            let now = service.clock.nowSeconds
            var expected = IdentityV1.IntrospectTokenResponse()
            (expected.active, expected.use) = (true, .access)
            (expected.userID, expected.sessionID) = (tokens.userID, tokens.sessionID)
            (expected.clientID, expected.issuer) = ("com.example.app", "https://id.example.com")
            (expected.audience, expected.expiresAtSeconds) = ("vestibule", now + 600)
            (expected.acr, expected.signedInAtSeconds) = ("urn:vestibule:acr:provider", now)
            #expect(try await introspect(service, tokens.accessToken) == expected)

            (expected.use, expected.audience) = (.refresh, "")
            expected.expiresAtSeconds = now + 30 * 86_400
            #expect(try await introspect(service, tokens.refreshToken) == expected)

            let single = try await service.signInSingle()
            expected.sessionID = single.sessionID
            (expected.use, expected.audience) = (.access, "vestibule-single-token")
            #expect(try await introspect(service, single.singleToken) == expected)
        }
    }

    @Test func `Any other token is reported as inactive, without details`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            let other = try await service.signInAnew()
            try await service.signOut(refreshToken: other.refreshToken)
            let stranger = try #require(RefreshKeys([SecureRandom.bytes(32)]))
            let refresh = try #require(service.settings.refreshKeys.verify(tokens.refreshToken))
            let foreign = RefreshToken(
                sessionID: refresh.sessionID,
                number: refresh.number,
                nonce: SecureRandom.bytes(16)
            )
            let unproven = try await service.signInSingle()
            try await service.setProof("unproven", dialect: "wordpress", of: unproven)
            let others = [
                "", "x", tokens.idToken, other.accessToken, other.refreshToken, stranger.mint(refresh),
                service.settings.refreshKeys.mint(foreign), unproven.singleToken, tokens.accessToken + "A",
                String(repeating: "a", count: 20_000),
            ]
            for token in others { #expect(try await introspect(service, token) == inactive, "\(token.prefix(20))") }

            service.clock.advance(seconds: 599)
            #expect(try await introspect(service, tokens.accessToken).active)
            service.clock.advance(seconds: 1)
            #expect(try await introspect(service, tokens.accessToken) == inactive)
            #expect(try await introspect(service, tokens.refreshToken).active)
            service.clock.advance(seconds: 30 * 86_400 - 600)
            #expect(try await introspect(service, tokens.refreshToken) == inactive)
        }
    }

    @Test func `A refresh token is active if a refresh with it would succeed`() async throws {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            let lost = try await service.refresh(first.refreshToken).tokens
            service.clock.advance(seconds: 60)
            let sibling = try await service.refresh(first.refreshToken).tokens
            for token in [first, lost, sibling] { #expect(try await introspect(service, token.refreshToken).active) }
            _ = try await service.refresh(sibling.refreshToken)
            #expect(try await introspect(service, sibling.refreshToken).active, "its successor may be lost")
            for token in [first, lost] { #expect(try await introspect(service, token.refreshToken) == inactive) }
        }
    }

    @Test func `After the end of all sessions no earlier token is active`() async throws {
        try await TestService.run { service in
            let (tokens, single) = (try await service.signInAnew(), try await service.signInSingle())
            let before = [tokens.accessToken, tokens.refreshToken, single.singleToken]
            for token in before { #expect(try await introspect(service, token).active) }
            service.pass(seconds: 1)
            try await service.endAllSessions()
            service.pass(seconds: 1)
            for token in before { #expect(try await introspect(service, token) == inactive) }
            let later = try await service.signInAnew()
            for token in [later.accessToken, later.refreshToken] {
                #expect(try await introspect(service, token).active)
            }
        }
    }

    @Test func `Introspection doesn't count as a use of the token`() async throws {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            // The app never received these tokens; somebody else found them in a log and introspects them.
            let lost = try await service.refresh(first.refreshToken).tokens
            let single = try await service.signInSingle()
            let usedAt = try await service.lastUsedAtMilliseconds(of: single)
            service.clock.advance(seconds: 400)
            #expect(try await introspect(service, lost.accessToken).active)
            #expect(try await introspect(service, lost.refreshToken).active)
            #expect(try await introspect(service, single.singleToken).active)
            try await service.parts.methods.acknowledgements.writeAll()
            #expect(try await service.lastUsedAtMilliseconds(of: single) == usedAt)
            service.clock.advance(seconds: 10 * 86_400)
            let back = try await service.refresh(first.refreshToken).tokens
            _ = try await service.check(back.accessToken)
        }
    }

    @Test func `If the database fails there is no answer, rather than a wrong one`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            await service.database.shutdown()
            await #expect(throws: RPCError.self) { _ = try await introspect(service, tokens.accessToken) }
            #expect(try await introspect(service, "forged") == inactive)
        }
    }
}
