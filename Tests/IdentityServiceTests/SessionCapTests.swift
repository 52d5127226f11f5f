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

/// At most so many sessions of an account are alive.
struct SessionCapTests {
    private func limits(_ sessionsMax: Int) -> SessionLimits {
        var limits = SessionLimits()
        limits.sessionsMax = sessionsMax
        return limits
    }

    private func liveCount(_ service: TestService, of userID: String) async throws -> Int64 {
        let id = try #require(UserID(userID))
        return try await service.parts.methods.store.liveSessionCount(
            .account(id),
            nowMilliseconds: service.clock.nowMilliseconds
        )
    }

    @Test func `A sign-in beyond ends the session that was used longest ago`() async throws {
        try await TestService.run(limits: limits(3)) { service in
            let other = try await service.signInAnew(subject: "002.person")
            var sessions: [IdentityV1.SessionTokens] = []
            for _ in 0..<3 {
                sessions.append(try await service.signInAnew())
                service.pass(seconds: 1)
            }
            // The first is used again: now the second is the one used longest ago.
            let refreshed = try await service.refresh(sessions[0].refreshToken).tokens
            service.pass(seconds: 1)
            let fourth = try await service.signInAnew()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(sessions[1].accessToken)
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(sessions[1].refreshToken)
            }
            for token in [refreshed.accessToken, sessions[2].accessToken, fourth.accessToken, other.accessToken] {
                _ = try await service.check(token)
            }
            #expect(try await service.revokeReasons() == ["too_many"])
        }
    }

    @Test func `A retry opens nothing and ends nothing`() async throws {
        try await TestService.run(limits: limits(1)) { service in
            let token = try service.provider.appleToken(at: service.clock)
            let first = try await service.signIn(token: token).tokens
            #expect(try await service.signIn(token: token).tokens.sessionID == first.sessionID)
            _ = try await service.check(first.accessToken)
            let second = try await service.signInAnew()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(first.accessToken) }
            _ = try await service.check(second.accessToken)
        }
    }

    @Test func `Sessions that are over don't count, and a lower cap ends the excess`() async throws {
        try await TestService.run(limits: limits(4)) { service in
            var sessions: [IdentityV1.SessionTokens] = []
            for _ in 0..<4 {
                sessions.append(try await service.signInAnew())
                service.pass(seconds: 1)
            }
            try await service.signOut(accessToken: sessions[3].accessToken)
            sessions[3] = try await service.signInAnew()
            #expect(try await service.revokeReasons() == ["sign_out"])

            // Another replica, with a cap of two.
            let lower = IdentityParts(
                settings: IdentitySettings(
                    providers: Array(service.settings.providers.values),
                    issuer: service.settings.issuer,
                    refreshKeys: service.settings.refreshKeys,
                    limits: limits(2),
                    proofs: service.settings.proofs,
                    cursors: service.settings.cursors
                ),
                database: service.database,
                group: service.group,
                fetcher: service.provider,
                http: TestHTTP(),
                profile: OtherServices.profile,
                invites: OtherServices.invites,
                clock: service.clock.wallClock,
                logger: TestService.silentLogger
            )
            let fetching = Task { await lower.fetchProviderKeys() }
            defer { fetching.cancel() }
            var router = Router()
            router.add(lower.methods)
            service.pass(seconds: 1)
            let token = try service.provider.appleToken(at: service.clock, ["jti": "lower"])
            let fifth = try await IdentityServiceClient(InProcessChannel(router)).signIn(
                .with { ($0.provider, $0.idToken, $0.nonce) = ("apple", token, TestProvider.rawNonce) }
            ).tokens
            let alive = try await service.sessions(fifth.accessToken).map(\.sessionID)
            #expect(alive == [fifth.sessionID, sessions[3].sessionID])
            #expect(try await service.revokeReasons() == ["sign_out", "too_many", "too_many", "too_many"])
        }
    }

    @Test func `Idle and expired sessions end nobody`() async throws {
        var limits = limits(2)
        limits.inactivitySeconds = 3_600
        try await TestService.run(limits: limits) { service in
            for _ in 0..<2 { _ = try await service.signInAnew() }
            service.clock.advance(seconds: 3_600)
            for _ in 0..<2 { _ = try await service.signInAnew() }
            #expect(try await service.revokeReasons() == [])
        }
    }

    /// Each sign-in is let in behind the one before by the lock of the account's row, and counts what that one committed: there
    /// is no moment with one more.
    @Test func `Sign-ins at once keep the bound, by one identity or by two`() async throws {
        try await TestService.run(limits: limits(3)) { service in
            let userID = try await service.signInAnew().userID
            let id = try #require(UserID(userID))
            // Google's person of the same account, whose sign-ins lock another identity.
            try await service.database.execute(
                """
                INSERT INTO provider_identities (provider, subject, user_id, is_email_verified, is_private_email, created_at,
                    last_sign_in_at)
                VALUES ('google', '117', \(id.uuid), false, false, now(), now())
                """
            )
            for round in 0..<4 {
                service.pass(seconds: 1)
                let counts = try await gather(16) { number in
                    let tokenID = JSONValue.string("\(round) \(number)")
                    if number % 2 == 0 {
                        _ = try await service.signIn(changes: ["jti": tokenID])
                    } else {
                        let token = try service.provider.appleToken(
                            subject: "117",
                            at: service.clock,
                            [
                                "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com",
                                "c_hash": nil as JSONValue?, "jti": tokenID,
                            ]
                        )
                        let tokens = try await service.signIn(token: token, provider: "google").tokens
                        #expect(tokens.userID == userID)
                    }
                    return try await liveCount(service, of: userID)
                }
                #expect(counts.allSatisfy { 1...3 ~= $0 }, "\(counts)")
                #expect(try await liveCount(service, of: userID) == 3)
            }
            let opened: Int64 = try await service.value("SELECT count(*) FROM sessions")
            #expect(opened == 65)
        }
    }

    /// All that locks several rows of sessions, at once: PostgreSQL undoes one of two that wait for each other in a circle.
    @Test func `Sign-ins, refreshes, first uses and ends at once wait for nobody in a circle`() async throws {
        try await TestService.run(limits: limits(4)) { service in
            let owner = try await service.signInAnew()
            let userID = try #require(UserID(owner.userID))
            let store = service.parts.methods.store
            func deadlocks() async throws -> Int64 {
                try await service.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            }
            let before = try await deadlocks()
            for round in 0..<6 {
                service.pass(seconds: 1)
                let last = try await service.sessions(try await service.signInAnew().accessToken)
                let ids = last.compactMap { SessionID($0.sessionID) }
                _ = try await gather(24) { number in
                    do {
                        switch number % 6 {
                        case 0, 1, 2:
                            let tokens = try await service.signIn(changes: ["jti": .string("\(round) \(number)")])
                                .tokens
                            _ = try await service.refresh(tokens.refreshToken)
                        case 3:
                            let seen = ids.shuffled().map { NumberSeen(sessionID: $0, number: 0) }
                            _ = try await store.acknowledge(seen, nowMilliseconds: service.clock.nowMilliseconds)
                        case 4:
                            _ = try await store.endSessions(of: userID, nowMilliseconds: service.clock.nowMilliseconds)
                        default:
                            let tokens = try await service.signIn(changes: ["jti": .string("\(round) \(number)")])
                                .tokens
                            try await service.signOut(.others, refreshToken: tokens.refreshToken)
                        }
                    } catch let error as RPCError where error.reason == "SESSION_REVOKED" {
                        // Another was as quick.
                    }
                }
                #expect(try await liveCount(service, of: owner.userID) <= 4)
            }
            #expect(try await deadlocks() == before)
        }
    }

    @Test func `A first proof beyond the cap ends what was opened without, too`() async throws {
        try await TestService.runWithAudiences(limits: limits(2), unprovenDialects: ["wordpress"]) { service in
            for round in 0..<6 {
                let subject = "person-\(round)"
                @Sendable func unproven(create: Bool) async throws -> IdentityV1.SessionTokens {
                    try await service.signIn {
                        ($0.unproven.dialect, $0.unproven.subject) = ("wordpress", subject)
                        ($0.create, $0.tokenStyle) = (create, .singleForSession)
                    }.tokens
                }
                let registered = try await unproven(create: true)
                // The cap counts these as well.
                _ = try await gather(4) { _ in try await unproven(create: false) }
                #expect(try await liveCount(service, of: registered.userID) == 2)
                service.pass(seconds: 1)
                let tokens = try (0..<4).map {
                    try service.provider.appleToken(
                        subject: subject,
                        at: service.clock,
                        ["jti": .string("\(round) \($0)")]
                    )
                }
                let proven = try await gather(4) { try await service.signIn(token: tokens[$0]).tokens }
                #expect(Set(proven.map(\.userID)) == [registered.userID])
                #expect(try await liveCount(service, of: registered.userID) == 2)
                let left: Int64 = try await service.value(
                    "SELECT count(*) FROM sessions WHERE proof = 'unproven' AND revoked_at IS NULL"
                )
                #expect(left == 0)
            }
        }
    }
}
