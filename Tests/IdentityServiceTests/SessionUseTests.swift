import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels
import Synchronization
import Testing

@testable import IdentityService

struct SessionUseTests {
    @Test func `A use is written down once an hour at most`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            let start = service.clock.nowMilliseconds
            service.clock.advance(seconds: 3_599)
            _ = try await service.check(tokens.singleToken)
            #expect(try await service.lastUsedAtMilliseconds(of: tokens) == start)
            service.clock.advance(seconds: 1)
            let now = service.clock.nowMilliseconds
            for _ in 0..<3 { _ = try await service.check(tokens.singleToken) }
            service.clock.advance(seconds: 1_000)
            _ = try await service.renew(tokens.singleToken)
            #expect(try await service.lastUsedAtMilliseconds(of: tokens) == now)
            #expect(try service.uses("recorded") == 1)
        }
    }

    @Test func `An access token writes nothing`() async throws {
        var limits = SessionLimits()
        limits.accessTokenSeconds = 100_000
        try await TestService.run(limits: limits) { service in
            let tokens = try await service.signIn().tokens
            let start = service.clock.nowMilliseconds
            service.clock.advance(seconds: 90_000)
            _ = try await service.check(tokens.accessToken)
            #expect(try await service.lastUsedAtMilliseconds(of: tokens) == start)
        }
    }

    @Test func `Of many concurrent calls one writes, and all are answered although the row is locked`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            let sessionID = try #require(SessionID(tokens.sessionID))
            service.clock.advance(seconds: 7_200)
            let token = tokens.singleToken
            let client = service.client
            try await service.database.withTransaction { transaction in
                try await transaction.execute("SELECT FROM sessions WHERE session_id = \(sessionID.uuid) FOR UPDATE")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            var request = IdentityV1.CheckSessionRequest()
                            request.accessToken = token
                            _ = try await client.checkSession(request)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try service.uses("failed") == 1)
            #expect(try service.uses("recorded") == 0)
        }
    }

    @Test func `A call is answered though its use can't be written down, and a later one tries again`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInSingle()
            let start = service.clock.nowMilliseconds
            try await service.database.execute(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$
                """
            )
            try await service.database.execute(
                "CREATE TRIGGER refuse BEFORE UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
            service.clock.advance(seconds: 7_200)
            for _ in 0..<3 { _ = try await service.check(tokens.singleToken) }
            #expect(try service.uses("failed") == 1, "after a failure nothing is written for a while")
            service.clock.advance(seconds: 10)
            _ = try await service.renew(tokens.singleToken)
            #expect(try service.uses("failed") == 2)
            #expect(try await service.lastUsedAtMilliseconds(of: tokens) == start)
            try await service.database.execute("DROP TRIGGER refuse ON sessions")
            service.clock.advance(seconds: 10)
            _ = try await service.check(tokens.singleToken)
            #expect(try await service.lastUsedAtMilliseconds(of: tokens) == service.clock.nowMilliseconds)
        }
    }

    @Test func `Uses are begun once a session, and not without bound`() throws {
        let uses = SessionUses()
        let ids = (0...UInt64(SessionUses.underWayMax)).map { SessionID(high: 1, low: $0) }
        for id in ids.dropLast() { #expect(uses.begin(id, nowMilliseconds: 0)) }
        #expect(!uses.begin(ids[ids.count - 1], nowMilliseconds: 0))
        uses.end(ids[0], .recorded, nowMilliseconds: 0)
        #expect(!uses.begin(ids[1], nowMilliseconds: 0))
        #expect(uses.begin(ids[0], nowMilliseconds: 0))
        uses.end(ids[1], .abandoned, nowMilliseconds: 0)
        #expect(uses.begin(ids[1], nowMilliseconds: 0), "who goes away stops nobody")
        uses.end(ids[1], .failed, nowMilliseconds: 0)
        #expect(!uses.begin(ids[1], nowMilliseconds: SessionUses.pauseMilliseconds - 1))
        #expect(uses.begin(ids[1], nowMilliseconds: SessionUses.pauseMilliseconds))
    }
}
