import API
import IdentityDomain
import Models
import Postgres
import RPC
import RPCTransport
import ServiceKit
import ServiceModels
import TestDatabases
import TestWaits
import Testing

@testable import IdentityService

/// Which of a session's tokens count as received, and what follows from it.
struct AcknowledgementTests {
    /// A session whose first successor was lost, and whose second one was not.
    private struct Forked {
        let first: IdentityV1.SessionTokens
        let lost: IdentityV1.SessionTokens
        let sibling: IdentityV1.SessionTokens

        init(_ service: TestService) async throws {
            first = try await service.signIn().tokens
            lost = try await service.refresh(first.refreshToken).tokens
            service.clock.advance(seconds: 60)
            sibling = try await service.refresh(first.refreshToken).tokens
        }
    }

    private func written(_ outcome: String, _ service: TestService) throws -> Int {
        var text = MetricsText()
        service.parts.methods.acknowledgements.write(to: &text)
        let name = "vestibule_identity_acknowledgements_total{outcome=\"\(outcome)\"} "
        let line = try #require(text.text.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(Int(line.dropFirst(name.count)))
    }

    @Test func `A lost answer never signs anybody out, however late its owner comes back`() async throws {
        try await TestService.run { service in
            var tokens = try await service.signIn().tokens
            for _ in 0..<5 {
                _ = try await service.refresh(tokens.refreshToken)
                service.clock.advance(seconds: 29 * 86_400)
                tokens = try await service.refresh(tokens.refreshToken).tokens
            }
            _ = try await service.check(tokens.accessToken)
        }
    }

    @Test func `The first sibling that is used kills the others`() async throws {
        try await TestService.run { service in
            let forked = try await Forked(service)
            #expect(forked.sibling.refreshToken != forked.lost.refreshToken)
            _ = try await service.check(forked.sibling.accessToken)
            try await service.parts.methods.acknowledgements.writeAll()
            service.clock.advance(seconds: 31)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") {
                _ = try await service.refresh(forked.lost.refreshToken)
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(forked.sibling.accessToken)
            }
        }
    }

    @Test func `The access token of a dead sibling ends the session, too`() async throws {
        try await TestService.run { service in
            let forked = try await Forked(service)
            _ = try await service.refresh(forked.sibling.refreshToken)
            // Parallel uses of one app within the grace are none of a thief.
            _ = try await service.check(forked.lost.accessToken)
            try await service.parts.methods.acknowledgements.writeAll()
            _ = try await service.check(forked.sibling.accessToken)
            service.clock.advance(seconds: 31)
            _ = try await service.check(forked.lost.accessToken)
            try await service.parts.methods.acknowledgements.writeAll()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(forked.sibling.accessToken)
            }
            #expect(try written("reused", service) == 1)
        }
    }

    @Test func `An expired access token shows that it was received`() async throws {
        try await TestService.run { service in
            let forked = try await Forked(service)
            service.clock.advance(seconds: 600)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                _ = try await service.check(forked.sibling.accessToken)
            }
            try await service.parts.methods.acknowledgements.writeAll()
            service.clock.advance(seconds: 31)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") {
                _ = try await service.refresh(forked.first.refreshToken)
            }
        }
    }

    @Test func `An acknowledgement lost in a crash comes with the next use`() async throws {
        try await TestService.run { service in
            let forked = try await Forked(service)
            _ = try await service.check(forked.sibling.accessToken)  // and the process dies
            _ = try await service.refresh(forked.sibling.refreshToken)
            service.clock.advance(seconds: 31)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") {
                _ = try await service.refresh(forked.lost.refreshToken)
            }
        }
    }

    /// A call that was under way, or a second process of the app, still has the one before: it is good until it expires.
    @Test func `After a restore nobody is signed out who still uses the access token before the newest`() async throws {
        try await TestService.run { service in
            var all = [try await service.signIn().tokens]
            try await service.database.execute("CREATE TABLE kept AS SELECT * FROM sessions")
            for _ in 0..<3 {
                all.append(try await service.refresh(all[all.count - 1].refreshToken).tokens)
                service.clock.advance(seconds: 31)
            }
            try await service.database.execute("DELETE FROM sessions")
            try await service.database.execute("INSERT INTO sessions SELECT * FROM kept")
            let newest = try await service.refresh(all[3].refreshToken).tokens
            service.clock.advance(seconds: 31)
            _ = try await service.check(all[2].accessToken)
            try await service.parts.methods.acknowledgements.writeAll()
            _ = try await service.check(newest.accessToken)
            #expect(try written("reused", service) == 0)
            // As anywhere, a refresh token that was replaced is worth nothing.
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") {
                _ = try await service.refresh(all[2].refreshToken)
            }
        }
    }

    /// They are written many at once, and each row is locked until the end.
    @Test func `One locked session doesn't prevent the refresh of others`() async throws {
        try await TestService.run { service in
            var tokens: [IdentityV1.SessionTokens] = []
            for n in 0..<2 { tokens.append(try await service.signIn(subject: "s\(n)").tokens) }
            tokens.sort { $0.sessionID < $1.sessionID }
            for tokens in tokens { _ = try await service.check(tokens.accessToken) }
            let acknowledgements = service.parts.methods.acknowledgements
            let (free, held) = (tokens[0], tokens[1])
            let writing = try await service.database.withTransaction { transaction in
                try await transaction.execute(
                    "SELECT FROM sessions WHERE session_id::text = \(held.sessionID) FOR UPDATE"
                )
                let writing = Task { try await acknowledgements.writeAll() }
                // It is done, or waits for the row that is held.
                try await service.database.waitForLockWaits(orUntil: { try written("written", service) > 0 })
                var refresh = IdentityV1.RefreshRequest()
                refresh.refreshToken = free.refreshToken
                _ = try await service.client.refresh(refresh, options: CallOptions(timeout: .seconds(3)))
                return writing
            }
            try await writing.value
            #expect(try written("written", service) == 1)
            #expect(try written("skipped", service) == 1)
            // A later use is written down.
            _ = try await service.check(held.accessToken)
            try await acknowledgements.writeAll()
            #expect(try written("written", service) == 2)
        }
    }

    @Test func `A token is written down once`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signIn().tokens
            for _ in 0..<10 { _ = try await service.check(tokens.accessToken) }
            try await service.parts.methods.acknowledgements.writeAll()
            for _ in 0..<10 { _ = try await service.check(tokens.accessToken) }
            try await service.parts.methods.acknowledgements.writeAll()
            #expect(try written("written", service) == 1)
        }
    }

    @Test func `More than may wait are left to later uses`() async throws {
        try await TestService.run { (service) async throws -> Void in
            let acknowledgements = service.parts.methods.acknowledgements
            for number in 0..<(Acknowledgements.waitingMax + 5) {
                acknowledgements.add(NumberSeen(sessionID: SessionID(high: 1, low: UInt64(number)), number: 1))
            }
            #expect(try written("dropped", service) == 5)
        }
    }

    @Test func `Gathered uses are written behind the calls`() async throws {
        try await TestService.run { service in
            let writing = Task { await service.parts.acknowledge() }
            let tokens = try await service.signIn().tokens
            _ = try await service.check(tokens.accessToken)
            try await eventually { try written("written", service) > 0 }
            writing.cancel()
            await writing.value
            let rows = try await service.database.query("SELECT base, first_child FROM sessions")
            let (base, firstChild) = try rows[0].decode(Int64.self, Int64.self)
            #expect(base == 0 && firstChild == 1)
        }
    }

    /// Both wait for the row, and whichever comes second judges it as the first one left it.
    @Test func `A refresh and the first use of its access token at the same moment agree`() async throws {
        try await TestService.run { service in
            let store = service.parts.methods.store
            let tokens = try await service.signIn().tokens
            var token = try #require(service.settings.refreshKeys.verify(tokens.refreshToken))
            for _ in 0..<400 {
                let now = service.clock.nowMilliseconds
                let seen = NumberSeen(sessionID: token.sessionID, number: token.number)
                let using = Task(executorPreference: service.group.loops[0]) {
                    try await store.acknowledge([seen], nowMilliseconds: now)
                }
                let refreshing = Task(executorPreference: service.group.loops[1]) { [token] in
                    try await store.refresh(
                        token,
                        ofClient: nil,
                        key: nil,
                        presentedAtMilliseconds: now,
                        nowMilliseconds: now,
                        deadline: nil
                    )
                }
                #expect(try await using.value.ended == 0)
                let (verdict, session) = try await refreshing.value
                #expect(verdict == .rotated)
                let number = try #require(session).number
                #expect(number == token.number + 1)
                token = RefreshToken(sessionID: token.sessionID, number: number, nonce: token.nonce)
                service.clock.advance(seconds: 40)
            }
        }
    }
}
