import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import IdentityService

/// A restore puts rows back as they were: what was over lives again, until all sessions are ended.
struct EndOfSessionsTests {
    private func keep(_ service: TestService) async throws {
        for table in ["sessions", "sign_ins"] {
            try await service.database.execute("DROP TABLE IF EXISTS kept_\(unsafeSQL: table)")
            try await service.database.execute(
                "CREATE TABLE kept_\(unsafeSQL: table) AS SELECT * FROM \(unsafeSQL: table)"
            )
        }
    }

    private func putBack(_ service: TestService) async throws {
        for table in ["sessions", "sign_ins"] {
            try await service.database.execute("DELETE FROM \(unsafeSQL: table)")
            try await service.database.execute(
                "INSERT INTO \(unsafeSQL: table) SELECT * FROM kept_\(unsafeSQL: table)"
            )
        }
    }

    private func endAll(_ service: TestService) async throws {
        _ = try await service.parts.methods.store.endAllSessions(WallClock { service.clock.nowMilliseconds })
    }

    @Test func `What a restore brings back is ended again`() async throws {
        try await TestService.run { service in
            let signedOut = try await service.signIn(subject: "signed-out")
            let rotating = try await service.signIn(subject: "rotating")
            try await keep(service)

            try await service.signOut(accessToken: signedOut.tokens.accessToken)
            let usedToken = try service.provider.appleToken(subject: "used", at: service.clock)
            let used = try await service.signIn(token: usedToken)
            let second = try await service.refresh(rotating.tokens.refreshToken)
            service.pass(seconds: 61)
            let third = try await service.refresh(second.tokens.refreshToken)
            try await putBack(service)

            // This is what goes wrong.
            _ = try await service.check(signedOut.tokens.accessToken)
            _ = try await service.signIn(token: usedToken)
            let stolen = try await service.refresh(rotating.tokens.refreshToken)
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.refresh(third.tokens.refreshToken)
            }
            try await putBack(service)
            service.pass(seconds: 1)
            #expect(
                try await service.parts.methods.store.liveSessionCount(nowMilliseconds: service.clock.nowMilliseconds)
                    == 2
            )
            try await endAll(service)

            // Also for rows that are put back after it.
            for _ in 0..<2 {
                for tokens in [signedOut.tokens, rotating.tokens, second.tokens, third.tokens, stolen.tokens] {
                    await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                        _ = try await service.check(tokens.accessToken)
                    }
                    await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                        _ = try await service.refresh(tokens.refreshToken)
                    }
                }
                await expectFailure(.unauthenticated, "TOKEN_EXPIRED") {
                    _ = try await service.signIn(token: usedToken)
                }
                try await putBack(service)
            }
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.check(used.tokens.accessToken)
            }
            #expect(
                try await service.parts.methods.store.liveSessionCount(nowMilliseconds: service.clock.nowMilliseconds)
                    == 0
            )

            // Everybody signs in again, and is who they were.
            service.pass(seconds: 1)
            let again = try await service.signIn(subject: "rotating")
            #expect(again.tokens.userID == rotating.tokens.userID)
            _ = try await service.check(again.tokens.accessToken)
            let refreshed = try await service.refresh(again.tokens.refreshToken)
            _ = try await service.check(refreshed.tokens.accessToken)
        }
    }

    @Test func `It holds on every replica at once`() async throws {
        try await TestService.run { service in
            // Another process on the same database, which has seen the token before.
            let other = IdentityParts(
                settings: service.settings,
                database: service.database,
                group: service.group,
                fetcher: service.provider,
                http: TestHTTP(),
                clock: service.clock.wallClock,
                logger: TestService.silentLogger
            )
            var router = Router()
            router.add(other.methods)
            let replica = IdentityServiceClient(InProcessChannel(router))
            let tokens = try await service.signIn().tokens
            var request = IdentityV1.CheckSessionRequest()
            request.accessToken = tokens.accessToken
            _ = try await replica.checkSession(request)
            service.pass(seconds: 1)
            try await endAll(service)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await replica.checkSession(request) }
        }
    }

    @Test func `A session from a clock that was ahead is ended too`() async throws {
        try await TestService.run { service in
            service.clock.advance(seconds: 300)
            let tokens = try await service.signIn().tokens
            service.clock.advance(seconds: -300)
            try await endAll(service)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(tokens.refreshToken)
            }
        }
    }

    @Test func `A session from a clock that is behind is alive`() async throws {
        try await TestService.run { service in
            try await endAll(service)
            let issuedAt = service.clock.nowSeconds
            service.clock.advance(seconds: -5)
            let tokens = try await service.signIn(changes: ["iat": .integer(issuedAt)]).tokens
            _ = try await service.check(tokens.accessToken)
            _ = try await service.refresh(tokens.refreshToken)
        }
    }

    @Test func `A retry of a sign-in from before is a replay`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            _ = try await service.signIn(token: token)
            service.pass(seconds: 1)
            try await endAll(service)
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") { _ = try await service.signIn(token: token) }
        }
    }

    @Test func `Without the epoch nobody is alive`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            try await service.database.execute("DELETE FROM session_epoch")
            await #expect(throws: RPCError.self) { try await service.check(tokens.accessToken) }
            await #expect(throws: RPCError.self) { try await service.refresh(tokens.refreshToken) }
            await #expect(throws: RPCError.self) { try await service.signIn(subject: "another") }
            await #expect(throws: EpochMissing.self) { try await endAll(service) }
        }
    }

    @Test func `The command says what it would do and does it when confirmed`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let command = EndSessionsCommand(store: service.parts.methods.store, clock: .system)
            // The tests' clock is ahead of everybody's, so the session counts as live here.
            await #expect(throws: EndSessionsCommand.Refusal.unconfirmed(liveSessions: 1)) {
                try await command.run(isConfirmed: false, logger: TestService.silentLogger)
            }
            _ = try await service.check(tokens.accessToken)
            let words = try await command.run(isConfirmed: true, logger: TestService.silentLogger)
            #expect(words.hasPrefix("ended 1 live sessions: those begun before 20"))
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
        }
    }

    @Test(arguments: [-3_600_000, -60_000, 60_000, 3_600_000] as [Int64])
    func `A wrong clock ends nothing`(difference: Int64) async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let command = EndSessionsCommand(
                store: service.parts.methods.store,
                clock: WallClock { WallClock.system.nowMilliseconds + difference }
            )
            let error = await #expect(throws: EndSessionsCommand.Refusal.self) {
                try await command.run(isConfirmed: true, logger: TestService.silentLogger)
            }
            guard case .clocksDiffer(let milliseconds) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(abs(milliseconds - difference) < 30_000)
            _ = try await service.check(tokens.accessToken)
        }
    }

    /// While containers are replaced one by one, the version before writes into these tables.
    @Test func `The version before can still write`() async throws {
        try await TestService.run { service in
            let userID = try #require(UserID(try await service.signIn().tokens.userID))
            try await service.database.execute(
                """
                INSERT INTO provider_identities (provider, subject, user_id, email, is_email_verified, is_private_email,
                    created_at, last_sign_in_at)
                VALUES ('google', '1', \(userID.uuid), 'a@example.com', false, false, now(), now())
                """
            )
            try await service.database.execute("UPDATE sessions SET revoked_at = now(), revoke_reason = 'reuse'")
        }
    }
}
