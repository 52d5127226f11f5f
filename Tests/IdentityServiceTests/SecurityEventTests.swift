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

/// The audit log.
struct SecurityEventTests {
    private struct Event: Hashable {
        let kind: SecurityEvent
        let details: String
        var sessionID: String?
        var userID: String?
        var occurredAtMilliseconds: Int64 = 0
    }

    /// All events, oldest first.
    private func events(_ service: TestService) async throws -> [Event] {
        let rows = try await service.database.query(
            "SELECT kind, details::text, session_id, user_id, occurred_at FROM security_events ORDER BY event_id"
        )
        return try rows.map { row in
            let (kind, details, sessionID, userID, occurredAt) = try row.decode(
                String.self,
                String.self,
                PostgresUUID?.self,
                PostgresUUID?.self,
                PostgresTimestamp.self
            )
            return Event(
                kind: try #require(SecurityEvent(rawValue: kind)),
                details: details,
                sessionID: sessionID.map { SessionID($0).description },
                userID: userID.map { UserID($0).description },
                occurredAtMilliseconds: occurredAt.milliseconds
            )
        }
    }

    @Test func `Sign-ins and ends of sessions are logged, and uses are not`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn().tokens
            let begunAt = service.clock.nowMilliseconds
            service.pass(seconds: 1)
            let second = try await service.signInSingle()
            service.pass(seconds: 1)
            let refreshed = try await service.refresh(first.refreshToken).tokens
            _ = try await service.check(refreshed.accessToken)
            _ = try await service.check(second.singleToken)
            _ = try await service.renew(second.singleToken)
            _ = try await service.sessions(refreshed.accessToken)
            var told = try await events(service)
            #expect(told.map(\.kind) == [.signedIn, .signedIn])
            #expect(
                told[0]
                    == Event(
                        kind: .signedIn,
                        details:
                            #"{"proof": "nonce", "provider": "apple", "client_id": "com.example.app", "opened_account": true}"#,
                        sessionID: first.sessionID,
                        userID: first.userID,
                        occurredAtMilliseconds: begunAt
                    )
            )
            #expect(told[1].sessionID == second.sessionID && told[1].details.contains(#""opened_account": false"#))

            service.pass(seconds: 1)
            _ = try await service.rename(second.sessionID, to: "Blue phone", accessToken: refreshed.accessToken)
            service.pass(seconds: 1)
            for _ in 0..<2 { try await service.end(second.sessionID, accessToken: refreshed.accessToken) }
            service.pass(seconds: 40)
            // The first token, long after its successor was used.
            await #expect(throws: RPCError.self) {
                _ = try await service.refresh(refreshed.refreshToken)
                service.pass(seconds: 40)
                _ = try await service.refresh(first.refreshToken)
            }
            told = try await events(service)
            #expect(told.dropFirst(2).map(\.kind) == [.sessionRenamed, .sessionEnded, .reuseDetected])
            #expect(told.dropFirst(2).map(\.details) == ["{}", #"{"reason": "ended"}"#, #"{"reason": "reuse"}"#])
            #expect(told.dropFirst(2).map(\.sessionID) == [second.sessionID, second.sessionID, first.sessionID])
            #expect(told.allSatisfy { $0.userID == first.userID })
        }
    }

    @Test func `A sign-out without anything to end is no event, however often it is repeated`() async throws {
        try await TestService.run { service in
            let only = try await service.signInAnew()
            for _ in 0..<3 { try await service.signOut(.others, accessToken: only.accessToken) }
            #expect(try await events(service).map(\.kind) == [.signedIn])
        }
    }

    @Test func `Ends of many sessions are logged as one event, by owner and by operator`() async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let first = try await service.signInAnew()
            for _ in 0..<2 { _ = try await service.signInAnew() }
            service.pass(seconds: 1)
            try await service.signOut(.others, accessToken: first.accessToken)
            let userID = try #require(UserID(first.userID))
            service.pass(seconds: 1)
            _ = try await store.endSessions(of: userID, nowMilliseconds: service.clock.nowMilliseconds)
            service.pass(seconds: 1)
            _ = try await store.endSessions(.all, count: 7, service.clock.wallClock)
            let told = try await events(service).dropFirst(3)
            #expect(
                Set(told.prefix(3).map { "\($0.kind) \($0.details)" }) == [
                    #"sessionEnded {"reason": "sign_out"}"#, #"sessionsEndedEverywhere {"by": "owner", "sessions": 2}"#,
                ]
            )
            #expect(
                Set(told.dropFirst(3).prefix(2).map { "\($0.kind) \($0.details)" }) == [
                    #"sessionEnded {"reason": "operator"}"#,
                    #"sessionsEndedEverywhere {"by": "operator", "sessions": 1}"#,
                ]
            )
            let all = try #require(told.last)
            #expect(told.count == 6 && all.kind == .allSessionsEnded && all.userID == nil && all.sessionID == nil)
            #expect(all.details.contains(#""sessions": 7"#))
        }
    }

    @Test func `The log has neither secrets nor personal data`() async throws {
        try await TestService.run { service in
            let token = try service.provider.appleToken(at: service.clock)
            let tokens = try await service.signIn(
                token: token,
                fullName: "Maria Santos",
                email: "maria@example.com",
                deviceName: "Maria's phone"
            ).tokens
            _ = try await service.rename(tokens.sessionID, to: "Secret tablet", accessToken: tokens.accessToken)
            try await service.signOut(.everywhere, accessToken: tokens.accessToken)
            let rows = try await service.database.query("SELECT lower(event::text) FROM security_events event")
            let log = try rows.map { try $0.decode(0, as: String.self) }.joined(separator: "\n")
            #expect(rows.count == 4)
            for word in ["maria", "santos", "example.com\"", "appleid", "phone", "tablet", "001.person"] {
                #expect(!log.contains(word), "\(word)")
            }
            for secret in [token, tokens.accessToken, tokens.refreshToken] {
                for part in secret.lowercased().split(separator: ".") { #expect(!log.contains(part)) }
            }
        }
    }

    @Test func `The tables allow the same values as the code`() async throws {
        try await TestService.run { service in
            for (table, constraint, words) in [
                ("security_events", "security_events_kind_check", SecurityEvent.allCases.map(\.rawValue)),
                ("sessions", "sessions_revoke_reason_check", SessionEnd.allCases.map(\.rawValue)),
            ] {
                let definition: String = try await service.value(
                    """
                    SELECT pg_get_constraintdef(oid) FROM pg_constraint
                    WHERE conname = \(constraint) AND conrelid = \(table)::regclass
                    """
                )
                let quoted = definition.split(separator: "'").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
                // The table of events already has values for later versions: its released rows are checked once.
                #expect(Set(quoted.map { String($0) }).isSuperset(of: words))
            }
        }
    }

    @Test func `Ids are UUIDs of version 7 in the order of the events`() async throws {
        try await TestService.run { service in
            for _ in 0..<3 {
                _ = try await service.signInAnew()
                service.pass(seconds: 1)
            }
            let rows = try await service.database.query(
                "SELECT event_id, occurred_at FROM security_events ORDER BY occurred_at"
            )
            let ids = try rows.map { SessionID(try $0.decode(0, as: PostgresUUID.self)) }
            #expect(ids.map(\.description) == ids.map(\.description).sorted())
            for (id, row) in zip(ids, rows) {
                #expect(id.high >> 12 & 0xF == 7 && id.low >> 62 == 0b10)
                #expect(Int64(id.high >> 16) == (try row.decode(1, as: PostgresTimestamp.self)).milliseconds)
            }
            #expect(Set(ids.map(\.low)).count == 3)
        }
    }

    @Test func `Events are kept for their time, and at least thirty days`() async throws {
        try await TestService.run { service in
            // By the machine's clock, which the database uses.
            let day: Int64 = 86_400_000
            let now = WallClock.system.nowMilliseconds
            for age in [401, 399, 31, 29] as [Int64] {
                let at = PostgresTimestamp(milliseconds: now - age * day)
                try await service.database.execute(
                    """
                    INSERT INTO security_events (event_id, kind, occurred_at, details)
                    VALUES (security_event_id(\(at), false), 'all_sessions_ended', \(at), '{}')
                    """
                )
            }
            let store = service.parts.methods.store
            #expect(try await store.forgetSecurityEvents(nowMilliseconds: now, limit: 100) == 1)
            #expect(try await store.forgetSecurityEvents(nowMilliseconds: now, limit: 100) == 0)
            // One at a time; a clock that is far ahead deletes no younger ones.
            let ahead = now + 4_000 * day
            #expect(try await store.forgetSecurityEvents(nowMilliseconds: ahead, limit: 1) == 1)
            #expect(try await store.forgetSecurityEvents(nowMilliseconds: ahead, limit: 100) == 1)
            #expect(try await store.forgetSecurityEvents(nowMilliseconds: ahead, limit: 100) == 0)
            #expect(try await service.count("security_events") == 1)
        }
    }

    @Test func `With a separate owner, the service's role can only insert`() async throws {
        let fresh = try await TestDatabase.fresh(schema: "identity", hasOwner: true)
        try await Migrator(fresh.ownerConfiguration).run(IdentityMigrations.all, schema: fresh.schema)
        // Created again, as at each start of a deployment, the rights are the same.
        for isRepeated in [false, true] {
            if isRepeated {
                try fresh.cluster.createServiceRoles(
                    name: fresh.user,
                    password: fresh.password,
                    owner: fresh.owner,
                    ownerPassword: fresh.password,
                    schema: fresh.schema,
                    database: fresh.database
                )
            }
            let role = AdministrativeSession(fresh.configuration)
            try await role.run(
                """
                INSERT INTO security_events (event_id, kind, occurred_at, details)
                VALUES (security_event_id(now() - interval '40 days', false), 'session_renamed', now(), '{}')
                """
            )
            for script in [
                "UPDATE security_events SET details = '{}'", "DELETE FROM security_events", "TRUNCATE security_events",
                "DROP TABLE security_events", "ALTER TABLE security_events ADD n int",
                "SELECT FROM security_events FOR UPDATE",
                "CREATE OR REPLACE FUNCTION forget_security_events(timestamptz, integer) RETURNS integer AS '' LANGUAGE sql",
            ] {
                do {
                    try await role.run(script)
                    Issue.record("\(script) was done")
                } catch AdministrativeSession.Failure.refused(let fault) {
                    #expect(fault.state == .insufficientPrivilege, "\(script)")
                }
            }
            #expect(try await role.run("SELECT forget_security_events(now(), 10)") == [["1"]])
        }
    }
}
