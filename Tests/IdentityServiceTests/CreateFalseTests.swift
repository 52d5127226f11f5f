import API
import JOSE
import Postgres
import RPC
import TestDatabases
import Testing

@testable import IdentityService

struct CreateFalseTests {
    private func signIn(
        _ service: TestService,
        _ token: String,
        create: Bool
    ) async throws -> IdentityV1.SignInResponse {
        try await service.signIn {
            ($0.idToken, $0.nonce, $0.fullName) = (token, TestProvider.rawNonce, "Ana Cruz")
            $0.create = create
        }
    }

    @Test func `An unknown person is not found and nothing changes`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.appleToken(at: service.clock)
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await signIn(service, token, create: false)
            }
            for table in ["accounts", "provider_identities", "sessions", "sign_ins", "told_once"] {
                #expect(try await service.count(table) == 0, "\(table)")
            }
            let response = try await signIn(service, token, create: true)
            #expect(response.isNewUser)
            #expect(response.suggestedDisplayName == "Ana Cruz")
        }
    }

    @Test func `A known person signs in`() async throws {
        try await TestService.runWithAudiences { service in
            let first = try await service.signIn()
            service.clock.advance(seconds: 1)
            let token = try service.provider.appleToken(at: service.clock)
            let second = try await signIn(service, token, create: false)
            #expect(second.tokens.userID == first.tokens.userID)
            #expect(!second.isNewUser)
            let again = try await signIn(service, token, create: false)
            #expect(again.tokens.sessionID == second.tokens.sessionID)
        }
    }

    /// The statement has seen the account, waits for its deletion, and then finds nothing.
    @Test(.waitsByLocksAlone) func `If the account is deleted at that moment, no new one is created`() async throws {
        try await TestService.runWithAudiences { service in
            _ = try await service.signIn()
            service.clock.advance(seconds: 1)
            let token = try service.provider.appleToken(at: service.clock)
            let signingIn = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM provider_identities FOR UPDATE")
                let signingIn = Task { try await signIn(service, token, create: false) }
                try await service.database.waitForLockWaits()
                try await transaction.execute("DELETE FROM accounts")
                return signingIn
            }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await signingIn.value }
            for table in ["accounts", "provider_identities", "sessions"] {
                #expect(try await service.count(table) == 0, "\(table)")
            }
            #expect(try await service.count("sign_ins") == 1, "the token isn't used up")
            #expect(try await signIn(service, token, create: true).isNewUser)
        }
    }

    @Test func `A code can look up first and create afterwards`() async throws {
        try await TestService.runWithAudiences { service in
            try service.exchange.answer(
                service.provider.appleToken(at: service.clock),
                for: "code-1",
                service: service
            )
            func signIn(create: Bool) async throws -> IdentityV1.SignInResponse {
                try await service.signIn {
                    ($0.authorizationCode, $0.clientID, $0.create) = ("code-1", "com.example.app", create)
                }
            }
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await signIn(create: false) }
            #expect(try await service.count("sign_ins") == 0)
            #expect(try await signIn(create: true).isNewUser)
        }
    }

    @Test func `A stale token of an unknown person is rejected as stale`() async throws {
        try await TestService.runWithAudiences { service in
            let issuedAt = service.clock.nowSeconds - 3_600
            let token = try service.provider.bareToken(at: service.clock, ["iat": .integer(issuedAt)])
            await expectFailure(.unauthenticated, "TOKEN_STALE") {
                try await service.signIn { ($0.idToken, $0.create) = (token, false) }
            }
        }
    }

    @Test func `Concurrent sign-ins with and without creating end with one account and one session`() async throws {
        try await TestService.runWithAudiences { service in
            for round in 0..<20 {
                let token = try service.provider.appleToken(subject: "\(round)", at: service.clock)
                let outcomes = try await gather(6) { number in
                    do {
                        return try await signIn(service, token, create: number % 2 == 0).tokens.sessionID
                    } catch let error as RPCError where number % 2 == 1 {
                        return try #require(error.reason)
                    }
                }
                let sessions = Set(outcomes).subtracting(["ACCOUNT_NOT_FOUND"])
                #expect(sessions.count == 1, "\(outcomes)")
                #expect(outcomes.enumerated().allSatisfy { $0 % 2 == 1 || $1 != "ACCOUNT_NOT_FOUND" })
            }
            #expect(try await service.count("accounts") == 20)
            #expect(try await service.count("sessions") == 20)
        }
    }
}
