import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceModels
import TestDatabases
import Testing

@testable import IdentityService

/// Codes that are redeemed while something else happens to the account.
struct CodeRaceTests {
    /// Redeems a code while a transaction has done this to the account and its browser's session, and not committed.
    private func redeem(
        _ bench: OAuthBench,
        code: String,
        during statements: [Query]
    ) async throws -> IdentityV1.IssueTokensResponse {
        let redeeming = try await bench.service.database.withTransaction { transaction in
            for statement in statements { try await transaction.execute(statement) }
            let redeeming = Task { try await bench.redeem(code) }
            try await bench.service.database.waitForLockWaits(orUntil: {
                try await bench.service.count("authorization_codes WHERE redeemed_session_id IS NOT NULL") > 0
            })
            return redeeming
        }
        return try await redeeming.value
    }

    private func userID(_ bench: OAuthBench, browser: String) async throws -> UserID {
        try #require(try await bench.service.parts.oauthMethods.browserSession(browser, deadline: nil)).userID
    }

    @Test func `A code opens nothing while its browser's session is ended`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let code = try await bench.code(browser: browser)
            let user = try await userID(bench, browser: browser).uuid
            let response = try await redeem(
                bench,
                code: code,
                during: [
                    """
                    UPDATE sessions SET revoked_at = created_at, revoke_reason = 'unlinked' WHERE user_id = \(user)
                    """
                ]
            )
            #expect(response.failure.error == "invalid_grant")
            #expect(try await bench.service.count("sessions WHERE revoked_at IS NULL") == 0)
        }
    }

    @Test func `A code of an account that is deleted meanwhile is invalid`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let code = try await bench.code(browser: browser)
            let user = try await userID(bench, browser: browser).uuid
            let response = try await redeem(
                bench,
                code: code,
                during: ["DELETE FROM accounts WHERE user_id = \(user)"]
            )
            #expect(response.failure.error == "invalid_grant")
        }
    }

    @Test func `A code of an account that is blocked meanwhile is invalid`() async throws {
        try await OAuthBench.run { bench in
            let browser = try await bench.browserToken()
            let code = try await bench.code(browser: browser)
            let user = try await userID(bench, browser: browser).uuid
            let response = try await redeem(
                bench,
                code: code,
                during: ["UPDATE accounts SET blocked_at = created_at WHERE user_id = \(user)"]
            )
            #expect(response.failure.error == "invalid_grant")
        }
    }

    @Test func `A code opens nothing while the provider's notice ends the sessions`() async throws {
        try await OAuthBench.run { bench in
            let service = bench.service
            let phone = try #require(SessionID(try await service.signInAnew().sessionID)).uuid
            service.pass(seconds: 1)
            let browser = try await bench.browserToken()
            let code = try await bench.code(browser: browser)
            try await service.accept(TestNotice(atSeconds: service.clock.nowSeconds))
            let (applying, redeeming) = try await service.database.withTransaction { transaction in
                try await transaction.query("SELECT FROM sessions WHERE session_id = \(phone) FOR UPDATE")
                let applying = Task { await service.notices.applyDue() }
                try await service.database.waitForLockWaits()
                let redeeming = Task { try await bench.redeem(code) }
                try await service.database.waitForLockWaits(
                    2,
                    orUntil: {
                        try await service.count("authorization_codes WHERE redeemed_session_id IS NOT NULL") > 0
                    }
                )
                return (applying, redeeming)
            }
            await applying.value
            #expect(try await redeeming.value.failure.error == "invalid_grant")
            #expect(try await service.count("sessions WHERE revoked_at IS NULL") == 0)
        }
    }
}
