import API
import IdentityDomain
import JOSE
import LocalPostgres
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import TestDatabases
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

    @Test func `Sessions that a restore brings back are ended again`() async throws {
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
            // Newer than the row: its owner isn't signed out.
            _ = try await service.refresh(third.tokens.refreshToken)
            try await putBack(service)
            service.pass(seconds: 1)
            #expect(
                try await service.parts.methods.store.liveSessionCount(
                    .all,
                    nowMilliseconds: service.clock.nowMilliseconds
                )
                    == 2
            )
            try await service.endAllSessions()

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
                try await service.parts.methods.store.liveSessionCount(
                    .all,
                    nowMilliseconds: service.clock.nowMilliseconds
                )
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

    @Test func `The end applies to refreshes at once and to checks a second later, on every replica`() async throws {
        try await TestService.run { service in
            // Another process on the same database, which has seen the token before.
            let other = IdentityParts(
                settings: service.settings,
                database: service.database,
                group: service.group,
                fetcher: service.provider,
                http: TestHTTP(),
                profile: OtherServices.profile,
                invites: OtherServices.invites,
                clock: service.clock.wallClock,
                monotonicNanoseconds: service.clock.monotonicNanoseconds,
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
            _ = try await replica.checkSession(request)
            _ = try await service.check(tokens.accessToken)
            try await service.endAllSessions()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(tokens.refreshToken)
            }
            // Both have asked from when on sessions count, and go by the answer for a second.
            _ = try await replica.checkSession(request)
            _ = try await service.check(tokens.accessToken)
            service.pass(seconds: 1)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await replica.checkSession(request) }
        }
    }

    @Test func `A session from a clock that was ahead is ended too`() async throws {
        try await TestService.run { service in
            service.clock.advance(seconds: 300)
            let tokens = try await service.signIn().tokens
            service.clock.advance(seconds: -300)
            try await service.endAllSessions()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(tokens.refreshToken)
            }
        }
    }

    /// Acknowledgements, and refreshes that share a commit, lock rows in the order of their ids.
    @Test(.waitsByLocksAlone) func `Ending sessions from a clock that was ahead never waits in a circle`() async throws
    {
        try await TestService.run { service in
            // In the table they lie in the other order.
            let low = PostgresUUID(high: 1, low: 0)
            let high = PostgresUUID(high: 2, low: 0)
            for sessionID in [high, low] {
                let tokens = try await service.signInAnew()
                try await service.database.execute(
                    """
                    UPDATE sessions SET session_id = \(sessionID), created_at = created_at + interval '1 hour'
                    WHERE session_id::text = \(tokens.sessionID)
                    """
                )
            }
            try await service.database.execute("CREATE TABLE ordered AS SELECT * FROM sessions")
            try await service.database.execute("DELETE FROM sessions")
            try await service.database.execute("INSERT INTO sessions SELECT * FROM ordered ORDER BY session_id DESC")
            let command = try await service.database.withTransaction { transaction in
                let lock = { (sessionID: PostgresUUID) in
                    _ = try await transaction.execute(
                        "SELECT FROM sessions WHERE session_id = \(sessionID) FOR UPDATE"
                    )
                }
                try await lock(low)
                let command = Task { try await service.endAllSessions() }
                try await service.database.waitForLockWaits()
                try await lock(high)
                return command
            }
            try await command.value
            #expect(try await service.revokeReasons() == ["end_all", "end_all"])
            await service.database.shutdown()
            let deadlocks = try SharedTestCluster.cluster().runSQL(
                "SELECT pg_stat_force_next_flush(); SELECT deadlocks FROM pg_stat_database WHERE datname = '\(service.database.configuration.database)';"
            )
            #expect(deadlocks.split(separator: "\n").last == "0")
        }
    }

    @Test func `A session from a clock that is behind is alive`() async throws {
        try await TestService.run { service in
            try await service.endAllSessions()
            let issuedAt = service.clock.nowSeconds
            service.clock.advance(seconds: -5)
            let tokens = try await service.signIn(changes: ["iat": .integer(issuedAt)]).tokens
            _ = try await service.check(tokens.accessToken)
            // Services that verify tokens themselves compare this with the time from which sessions count.
            let payload = try CompactJWS(parsing: tokens.accessToken).unverifiedPayload
            let begunAt = try #require(JSONObject(parsing: payload)["auth_time"]?.integer)
            #expect(begunAt >= issuedAt)
            _ = try await service.refresh(tokens.refreshToken)
        }
    }

    @Test func `A retry of a sign-in from before is a replay`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            _ = try await service.signIn(token: token)
            service.pass(seconds: 1)
            try await service.endAllSessions()
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
            await #expect(throws: EpochMissing.self) { try await service.endAllSessions() }
        }
    }

    @Test func `The command says what it would do and does it when confirmed`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let command = EndSessionsCommand(store: service.parts.methods.store, clock: .system)
            // The tests' clock is ahead of everybody's, so the session counts as live here.
            await #expect(throws: EndSessionsCommand.Refusal.unconfirmed(.all, liveSessions: 1)) {
                try await command.run(.all, isConfirmed: false, logger: TestService.silentLogger)
            }
            _ = try await service.check(tokens.accessToken)
            let words = try await command.run(.all, isConfirmed: true, logger: TestService.silentLogger)
            #expect(words.hasPrefix("ended 1 live sessions: those begun before 20"))
            service.pass(seconds: 1)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(tokens.accessToken) }
        }
    }

    @Test func `Sessions from before a time end, and the time never goes back`() async throws {
        try await TestService.run { service in
            let old = try await service.signInAnew()
            let oldToken = try service.provider.appleToken(subject: "another", at: service.clock)
            service.pass(seconds: 60)
            let young = try await service.signInAnew()
            let store = service.parts.methods.store
            let between = EndedSessions.begunBefore(milliseconds: service.clock.nowMilliseconds)
            #expect(try await store.liveSessionCount(between, nowMilliseconds: service.clock.nowMilliseconds) == 1)
            let from = try await store.endSessions(between, count: 1, service.clock.wallClock)
            #expect(from == service.clock.nowMilliseconds)
            service.pass(seconds: 1)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(old.accessToken) }
            await expectFailure(.unauthenticated, "TOKEN_EXPIRED") { _ = try await service.signIn(token: oldToken) }
            _ = try await service.check(young.accessToken)
            _ = try await service.refresh(young.refreshToken)
            // An earlier time changes nothing.
            let earlier = EndedSessions.begunBefore(milliseconds: service.clock.nowMilliseconds - 600_000)
            #expect(try await store.endSessions(earlier, count: 0, service.clock.wallClock) == from)
            service.pass(seconds: 1)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(old.refreshToken)
            }
        }
    }

    @Test func `The sessions of one account end and nobody else's`() async throws {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            let second = try await service.signInSingle()
            let other = try await service.signInAnew(subject: "002.person")
            let store = service.parts.methods.store
            let userID = try #require(UserID(first.userID))
            let now = service.clock.nowMilliseconds
            #expect(try await store.liveSessionCount(.account(userID), nowMilliseconds: now) == 2)
            #expect(try await store.endSessions(of: userID, nowMilliseconds: now) == 2)
            for token in [first.accessToken, second.singleToken] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(token) }
            }
            _ = try await service.check(other.accessToken)
            #expect(try await service.revokeReasons() == ["operator", "operator"])
            #expect(try await store.endSessions(of: userID, nowMilliseconds: now) == 0)
            // It bars nobody.
            _ = try await service.check(try await service.signInAnew().accessToken)
        }
    }

    @Test func `The command refuses a time that is still to come and tells what the others would do`() async throws {
        try await TestService.run { service in
            // The tests' clock is ahead of everybody's, so that the command's clock sees these sessions as begun later.
            let tokens = try await service.signInAnew()
            let userID = try #require(UserID(tokens.userID))
            let command = EndSessionsCommand(store: service.parts.methods.store, clock: .system)
            let now = WallClock.system.nowMilliseconds
            let refusals: [(EndedSessions, EndSessionsCommand.Refusal)] = [
                (.begunBefore(milliseconds: now + 60_000), .inTheFuture),
                (.begunBefore(milliseconds: 0), .unconfirmed(.begunBefore(milliseconds: 0), liveSessions: 0)),
                (.account(userID), .unconfirmed(.account(userID), liveSessions: 1)),
            ]
            for (which, refusal) in refusals {
                await #expect(throws: refusal) {
                    try await command.run(which, isConfirmed: refusal == .inTheFuture, logger: TestService.silentLogger)
                }
            }
            #expect(
                refusals.map(\.1.description) == [
                    "the time is in the future. Nothing was changed",
                    "0 live sessions from before 1970-01-01T00:00:00Z would be ended, and those people would have to sign in "
                        + "again. Nothing was changed; --confirm does it",
                    "1 live sessions of the account would be ended, and its owner would have to sign in again. Nothing was "
                        + "changed; --confirm does it",
                ]
            )
            _ = try await service.check(tokens.accessToken)
            let words = try await command.run(.account(userID), isConfirmed: true, logger: TestService.silentLogger)
            #expect(words == "ended 1 live sessions of the account")
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
                try await command.run(.all, isConfirmed: true, logger: TestService.silentLogger)
            }
            guard case .clocksDiffer(let milliseconds) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(abs(milliseconds - difference) < 30_000)
            _ = try await service.check(tokens.accessToken)
        }
    }
}
