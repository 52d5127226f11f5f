import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

/// Links, unlinks, sign-ins and deletions at the same moment.
struct LinkRaceTests {
    /// Runs both at once, and returns the reasons of the refusals.
    private static func together(_ bodies: [@Sendable () async throws -> Void]) async throws -> [String] {
        try await withThrowingTaskGroup(of: String?.self) { tasks in
            for body in bodies {
                tasks.addTask {
                    do { try await body() } catch let error as RPCError {
                        guard let reason = error.reason else { throw error }
                        return reason
                    }
                    return nil
                }
            }
            var reasons: [String] = []
            for try await reason in tasks { if let reason { reasons.append(reason) } }
            return reasons.sorted()
        }
    }

    /// Expects that each account has its identities, and each identity and session its account.
    private static func expectWhole(_ service: TestService) async throws {
        #expect(
            try await service.count("accounts") == service.count("(SELECT DISTINCT user_id FROM provider_identities) x")
        )
        let alone = "sessions s LEFT JOIN provider_identities i USING (user_id, provider) WHERE i.user_id IS NULL"
        #expect(try await service.count("\(alone) AND s.revoked_at IS NULL") == 0)
        let twice = "(SELECT FROM provider_identities GROUP BY user_id, provider HAVING count(*) > 1) x"
        #expect(try await service.count(twice) == 0)
    }

    @Test func `Two accounts that each link the other's identity both fail, and neither waits for ever`() async throws {
        // Recent enough to link, and too old for an absorption.
        var limits = SessionLimits()
        limits.deletionSignInSeconds = 0
        try await TestService.run(limits: limits) { service in
            var maria = try await service.signInAnew()
            var jose = try await service.signInByGoogle()
            service.clock.advance(seconds: IdentityStore.absorptionSignInMilliseconds / 1000 + 1)
            maria = try await service.refresh(maria.refreshToken).tokens
            jose = try await service.refresh(jose.refreshToken).tokens
            let (mariasToken, josesToken) = (maria.accessToken, jose.accessToken)
            for round in 0..<20 {
                let (apple, google) = (
                    try service.provider.appleToken(at: service.clock, ["jti": .string("\(round)")]),
                    try service.googleToken()
                )
                let reasons = try await Self.together([
                    { try await service.linkGoogle(mariasToken, token: google) },
                    { try await service.link(josesToken) { ($0.provider, $0.idToken) = ("apple", apple) } },
                ])
                #expect(reasons == ["IDENTITY_TAKEN", "IDENTITY_TAKEN"])
            }
            try await Self.expectWhole(service)
        }
    }

    @Test func `Of many accounts that link one identity one gets it`() async throws {
        try await TestService.run { service in
            for round in 0..<8 {
                var sessions: [IdentityV1.SessionTokens] = []
                for index in 0..<4 { sessions.append(try await service.signInAnew(subject: "\(round).\(index)")) }
                let bodies = sessions.map { session in
                    { @Sendable in
                        _ = try await service.linkGoogle(session.accessToken, token: service.googleToken("g\(round)"))
                    }
                }
                let reasons = try await Self.together(bodies)
                // The losers check, one at a time, whether one account may absorb the other.
                #expect(reasons.count == 3 && Set(reasons).isSubset(of: ["IDENTITY_TAKEN", "ACCOUNT_HELD"]))
            }
            try await Self.expectWhole(service)
        }
    }

    @Test func `Of many identities of one provider an account gets one`() async throws {
        try await TestService.run { service in
            for round in 0..<8 {
                let session = try await service.signInAnew(subject: "\(round)")
                let bodies = (0..<4).map { index in
                    { @Sendable in
                        _ = try await service.linkGoogle(
                            session.accessToken,
                            token: service.googleToken("\(round).\(index)")
                        )
                    }
                }
                #expect(try await Self.together(bodies) == Array(repeating: "PROVIDER_ALREADY_LINKED", count: 3))
            }
            try await Self.expectWhole(service)
        }
    }

    @Test func `One credential links one account, or opens one session`() async throws {
        try await TestService.run { service in
            for round in 0..<12 {
                let first = try await service.signInAnew(subject: "\(round).1")
                let second = try await service.signInAnew(subject: "\(round).2")
                let token = try service.googleToken("g\(round)")
                let reasons = try await Self.together([
                    { try await service.linkGoogle(first.accessToken, token: token) },
                    { try await service.linkGoogle(second.accessToken, token: token) },
                    { _ = try await service.signIn(token: token, provider: "google") },
                ])
                #expect(reasons == ["TOKEN_REPLAYED", "TOKEN_REPLAYED"])
            }
            try await Self.expectWhole(service)
        }
    }

    @Test func `A link and a first sign-in with the same identity race, and one of them gets it`() async throws {
        try await TestService.run { service in
            for round in 0..<12 {
                let session = try await service.signInAnew(subject: "\(round)")
                let reasons = try await Self.together([
                    { try await service.linkGoogle(session.accessToken, token: service.googleToken("g\(round)")) },
                    { _ = try await service.signInByGoogle("g\(round)") },
                ])
                #expect(reasons.isEmpty || reasons == ["IDENTITY_TAKEN"])
            }
            try await Self.expectWhole(service)
        }
    }

    /// A deletion locks the rows it deletes; so does a sign-in by a provider that was just linked.
    @Test func `Concurrent links, unlinks, sign-ins, sign-outs and deletions leave whole accounts`() async throws {
        try await TestService.run { service in
            for round in 0..<12 {
                let session = try await service.signInAnew(subject: "a\(round)")
                let leaving = try await service.signInAnew(subject: "a\(round)")
                let reasons = try await Self.together([
                    { try await service.linkGoogle(session.accessToken, token: service.googleToken("g\(round)")) },
                    { _ = try await service.signInByGoogle("g\(round)") },
                    { try await service.unlink(session.accessToken, round % 2 == 0 ? "google" : "apple") },
                    { _ = try await service.signInAnew(subject: "a\(round)") },
                    { try await service.signOut(accessToken: leaving.accessToken) },
                    { try await service.linkGoogle(leaving.accessToken, token: service.googleToken("g\(round)")) },
                    { if round % 3 > 0 { try await service.delete(session.accessToken) } },
                ])
                let allowed: Set = [
                    "IDENTITY_TAKEN", "ACCOUNT_HELD", "LAST_PROVIDER", "SESSION_INVALID", "SESSION_REVOKED",
                    "ACCOUNT_NOT_FOUND",
                ]
                #expect(Set(reasons).isSubset(of: allowed), "\(reasons)")
            }
            try await Self.expectWhole(service)
        }
    }

    @Test(arguments: ["security_events", "sign_ins", "provider_identities"])
    func `A link that fails at any step changes nothing`(table: String) async throws {
        try await TestService.run { service in
            let session = try await service.signInAnew()
            let token = try service.googleToken()
            try await service.database.execute(
                "ALTER TABLE \(unsafeSQL: table) ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            await #expect(throws: RPCError.self) { try await service.linkGoogle(session.accessToken, token: token) }
            try await service.database.execute("ALTER TABLE \(unsafeSQL: table) DROP CONSTRAINT broken")
            #expect(try await service.identities().count == 1)
            try await service.linkGoogle(session.accessToken, token: token)
            let google = try await service.signInByGoogle()
            try await service.database.execute(
                "ALTER TABLE revocations ADD CONSTRAINT broken CHECK (false) NOT VALID"
            )
            await #expect(throws: RPCError.self) { try await service.unlink(session.accessToken, "google") }
            _ = try await service.check(google.accessToken)
            #expect(try await service.identities().count == 2)
        }
    }
}
