import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import Testing

@testable import IdentityService

/// Whatever ends sessions logs which ones, and nothing else does.
struct RevocationLogTests {
    private func logged(_ service: TestService) async throws -> [String] {
        try await service.database.query("SELECT session_id::text FROM revocations ORDER BY xid, id")
            .map { try $0.decode(0, as: String.self) }
    }

    @Test func `A sign-out is written once, a refresh and a second sign-out not at all`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let next = try await service.refresh(tokens.refreshToken).tokens
            #expect(try await logged(service) == [])
            try await service.signOut(accessToken: next.accessToken)
            try await service.signOut(accessToken: next.accessToken)
            #expect(try await logged(service) == [tokens.sessionID])
        }
    }

    @Test func `A token that is used again writes its session's end`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            let second = try await service.refresh(tokens.refreshToken).tokens
            let third = try await service.refresh(second.refreshToken).tokens
            _ = try await service.refresh(third.refreshToken)
            service.clock.advance(seconds: 3_600)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") {
                _ = try await service.refresh(tokens.refreshToken)
            }
            #expect(try await logged(service) == [tokens.sessionID])
        }
    }

    @Test func `The end of many sessions writes each of them, in the transaction that ends them`() async throws {
        try await TestService.run { service in
            let sessions = try await service.makeSessions(300)
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await service.database.withTransaction { transaction in
                    try await transaction.execute(TestService.end(sessions))
                    throw Undone()
                }
            }
            #expect(try await logged(service) == [])
            try await service.database.execute(TestService.end(sessions))
            #expect(try await Set(logged(service)) == Set(sessions))
            #expect(try await logged(service).count == sessions.count)
        }
    }

    @Test func `Deleting live sessions logs their end, by account or the whole table`() async throws {
        try await TestService.run { service in
            let sessions = try await service.makeSessions(4)
            try await service.database.execute("DELETE FROM sessions WHERE session_id::text = \(sessions[0])")
            #expect(try await logged(service) == [sessions[0]])
            try await service.database.execute(
                """
                DELETE FROM accounts WHERE user_id = (SELECT user_id FROM sessions WHERE session_id::text = \(sessions[1]))
                """
            )
            #expect(try await logged(service) == Array(sessions[0...1]))
            try await service.database.execute(TestService.end([sessions[2]]))
            try await service.database.execute("TRUNCATE sessions")
            #expect(try await logged(service) == sessions)
        }
    }

    @Test func `Cleaning up expired rows logs nothing`() async throws {
        try await TestService.run { service in
            let sessions = try await service.makeSessions(3)
            try await service.database.execute(TestService.end([sessions[0]]))
            try await service.database.execute(
                "UPDATE sessions SET expires_at = now() - interval '40 days', last_used_at = now() - interval '90 days'"
            )
            await service.parts.cleanup.clean()
            #expect(try await service.count("sessions") == 0)
            #expect(try await logged(service) == [sessions[0]])
        }
    }

    @Test func `An end is forgotten once no token of the session can look valid`() async throws {
        try await TestService.run { service in
            let sessions = try await service.makeSessions(2)
            try await service.database.execute(TestService.end(sessions))
            let kept = Double(IdentityStore.revocationsKeptMilliseconds) / 1000
            try await service.database.execute(
                """
                UPDATE revocations SET revoked_at = now() - make_interval(secs => \(kept)
                    + CASE session_id::text WHEN \(sessions[0]) THEN 1 ELSE -60 END)
                """
            )
            await service.parts.cleanup.clean()
            #expect(try await logged(service) == [sessions[1]])
        }
    }
}
