import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

struct SignOutScopeTests {
    /// Three sessions of one person, one of them told by a single token, and one of somebody else.
    private struct People {
        let first: IdentityV1.SessionTokens
        let second: IdentityV1.SessionTokens
        let single: IdentityV1.SessionTokens
        let stranger: IdentityV1.SessionTokens

        init(_ service: TestService) async throws {
            first = try await service.signInAnew()
            second = try await service.signInAnew()
            single = try await service.signInSingle()
            stranger = try await service.signInAnew(subject: "002.person")
        }
    }

    private func expectLive(_ service: TestService, _ tokens: IdentityV1.SessionTokens...) async throws {
        for tokens in tokens {
            _ = try await service.check(tokens.singleToken.isEmpty ? tokens.accessToken : tokens.singleToken)
        }
    }

    private func expectEnded(_ service: TestService, _ tokens: IdentityV1.SessionTokens...) async {
        for tokens in tokens {
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await expectLive(service, tokens) }
        }
    }

    @Test func `Everywhere ends all sessions of the account and of nobody else`() async throws {
        try await TestService.run { service in
            for kind in 0..<3 {
                let people = try await People(service)
                switch kind {
                case 0: try await service.signOut(.everywhere, accessToken: people.first.accessToken)
                case 1: try await service.signOut(.everywhere, refreshToken: people.first.refreshToken)
                default: try await service.signOut(.everywhere, accessToken: people.single.singleToken)
                }
                await expectEnded(service, people.first, people.second, people.single)
                try await expectLive(service, people.stranger)
                let reasons = try await service.database.query(
                    "SELECT DISTINCT revoke_reason FROM sessions WHERE revoked_at IS NOT NULL"
                )
                #expect(try reasons.map { try $0.decode(0, as: String.self) } == ["sign_out"])
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.refresh(people.second.refreshToken)
                }
            }
        }
    }

    @Test func `Others ends all but its own`() async throws {
        try await TestService.run { service in
            let people = try await People(service)
            try await service.signOut(.others, accessToken: people.single.singleToken)
            await expectEnded(service, people.first, people.second)
            try await expectLive(service, people.single, people.stranger)
            // Once more is as good.
            try await service.signOut(.others, accessToken: people.single.singleToken)
            try await expectLive(service, people.single)
        }
    }

    @Test func `The usual scope ends its own, by any token of it`() async throws {
        try await TestService.run { service in
            let people = try await People(service)
            service.clock.advance(seconds: 31 * 86_400)
            let later = try await service.signInAnew()
            try await service.signOut(accessToken: people.single.singleToken)
            try await service.signOut(accessToken: people.single.singleToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.renew(people.single.singleToken)
            }
            try await expectLive(service, later)
        }
    }

    @Test func `A repetition whose answer was lost succeeds`() async throws {
        try await TestService.run { service in
            let people = try await People(service)
            for _ in 0..<2 { try await service.signOut(.everywhere, accessToken: people.first.accessToken) }
            // A session of after it isn't ended by a token that is signed out.
            let later = try await service.signInAnew()
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                try await service.signOut(.everywhere, accessToken: people.first.accessToken)
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                try await service.signOut(.others, accessToken: people.first.accessToken)
            }
            try await expectLive(service, later)
        }
    }

    @Test(arguments: [IdentityV1.SignOutScope.everywhere, .others])
    func `A token that would let nobody in ends nothing else`(scope: IdentityV1.SignOutScope) async throws {
        try await TestService.run { service in
            let people = try await People(service)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                try await service.signOut(scope, accessToken: "nonsense")
            }
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                try await service.signOut(scope, refreshToken: "nonsense")
            }
            let id = try #require(SessionID(people.first.sessionID))
            let wrongNonce = RefreshToken(sessionID: id, number: 0, nonce: SecureRandom.bytes(16))
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                try await service.signOut(scope, refreshToken: service.settings.refreshKeys.mint(wrongNonce))
            }
            service.clock.advance(seconds: 600)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                try await service.signOut(scope, accessToken: people.first.accessToken)
            }
            service.clock.advance(seconds: 30 * 86_400 - 600)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") {
                try await service.signOut(scope, accessToken: people.single.singleToken)
            }
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") {
                try await service.signOut(scope, refreshToken: people.first.refreshToken)
            }
            let ended = try await service.database.query("SELECT FROM sessions WHERE revoked_at IS NOT NULL")
            #expect(ended.isEmpty)
        }
    }

    @Test func `The refresh token before the current one will do, an older one won't`() async throws {
        try await TestService.run { service in
            let other = try await service.signInAnew()
            let first = try await service.signInAnew()
            let second = try await service.refresh(first.refreshToken).tokens
            try await service.signOut(.others, refreshToken: first.refreshToken)
            await expectEnded(service, other)
            let another = try await service.signInAnew()
            _ = try await service.refresh(second.refreshToken)
            // Within the grace Refresh takes it, and so it does here.
            service.clock.advance(seconds: 31)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                try await service.signOut(.everywhere, refreshToken: first.refreshToken)
            }
            try await expectLive(service, another, first)
        }
    }

    @Test func `A session without proof may only end itself`() async throws {
        try await TestService.run { service in
            let people = try await People(service)
            for tokens in [people.second, people.single] {
                try await service.setProof("unproven", dialect: "wordpress", of: tokens)
            }
            for scope in [IdentityV1.SignOutScope.everywhere, .others] {
                await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                    try await service.signOut(scope, accessToken: people.single.singleToken)
                }
                await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                    try await service.signOut(scope, refreshToken: people.second.refreshToken)
                }
            }
            try await expectLive(service, people.first)
            try await service.signOut(accessToken: people.single.singleToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(people.single.singleToken, dialect: "wordpress")
            }
            try await expectLive(service, people.first)
            // The owner ends it with all others.
            try await service.signOut(.everywhere, accessToken: people.first.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.check(people.second.accessToken, dialect: "wordpress")
            }
        }
    }

    @Test func `A scope that we don't know is refused`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            await expectFailure(.invalidArgument, "SCOPE_UNKNOWN") {
                try await service.signOut(.UNRECOGNIZED(7), accessToken: tokens.accessToken)
            }
            try await expectLive(service, tokens)
        }
    }

    @Test func `Refreshes and sign-outs everywhere at once leave no session`() async throws {
        try await TestService.run { service in
            for _ in 0..<3 {
                var sessions: [IdentityV1.SessionTokens] = []
                for _ in 0..<6 { sessions.append(try await service.signInAnew()) }
                let refreshed = try await withThrowingTaskGroup(of: [String].self) { group in
                    for tokens in sessions {
                        group.addTask {
                            do {
                                return [try await service.refresh(tokens.refreshToken).tokens.refreshToken]
                            } catch let error as RPCError where error.reason == "SESSION_REVOKED" {
                                return []
                            }
                        }
                    }
                    // From three sessions: the first ends the two others, who may find that out or have been as quick.
                    for tokens in sessions.prefix(3) {
                        group.addTask {
                            do {
                                try await service.signOut(.everywhere, refreshToken: tokens.refreshToken)
                            } catch let error as RPCError where error.reason == "SESSION_REVOKED" {}
                            return []
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                for token in refreshed + sessions.map(\.refreshToken) {
                    await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.refresh(token) }
                }
            }
        }
    }
}
