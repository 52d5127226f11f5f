import API
import IdentityDomain
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

/// A provider opens an account no more.
struct UnlinkProviderTests {
    @Test func `The provider's sessions end, and its person is new`() async throws {
        try await TestService.run { service in
            let apple = try await service.signInAnew()
            try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            let google = try await service.signInByGoogle()
            try await service.unlink(apple.accessToken, "google")

            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(google.accessToken) }
            _ = try await service.check(apple.accessToken)
            #expect(try await service.revokeReasons() == ["unlinked"])
            #expect(try await service.words("SELECT session_id::text FROM revocations") == [google.sessionID])
            let events = try await service.words(
                """
                SELECT concat_ws(' ', session_id, details->>'provider') FROM security_events
                WHERE kind = 'provider_unlinked'
                """
            )
            #expect(events == ["\(apple.sessionID) google"])
            let again = try await service.signIn(token: service.googleToken(), provider: "google")
            #expect(again.isNewUser && again.tokens.userID != apple.userID)
            // Again is a success, and so is what never was linked.
            try await service.unlink(apple.accessToken, "google")
            #expect(try await service.count("provider_identities") == 2)
        }
    }

    @Test func `The session that asks ends too if the provider opened it`() async throws {
        try await TestService.run { service in
            let apple = try await service.signInAnew()
            try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            try await service.unlink(apple.accessToken, "apple")
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(apple.accessToken) }
            let google = try await service.signInByGoogle()
            #expect(google.userID == apple.userID)
        }
    }

    @Test func `The provider's tokens are revoked, and no other's`() async throws {
        try await TestService.run { service in
            let apple = try await service.signInAnew()
            try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            for provider in ["apple", "google"] {
                try await service.database.execute(
                    """
                    INSERT INTO provider_grants (grant_id, user_id, provider, client_id, person, key_id, sealed_token, state,
                        granted_at, next_at)
                    SELECT gen_random_uuid(), user_id, \(provider), 'app', sha256('p'), 'k', 's', 'kept', now(), now()
                    FROM accounts
                    """
                )
            }
            try await service.unlink(apple.accessToken, "google")
            let states = try await service.words("SELECT provider || ' ' || state FROM provider_grants ORDER BY 1")
            #expect(states == ["apple kept", "google revoking"])
        }
    }

    @Test func `The last that can sign in stays`() async throws {
        try await TestService.run(unprovenDialects: ["wordpress"]) { service in
            let apple = try await service.signInAnew()
            await expectFailure(.failedPrecondition, "LAST_PROVIDER") {
                try await service.unlink(apple.accessToken, "apple")
            }
            try await service.unlink(apple.accessToken, "google")
            try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            // Another that signs in nobody is none: disabled, without proof, or of no provider that is configured.
            for change in ["disabled_at = now()", "unproven_dialect = 'wordpress'", "provider = 'former'"] {
                try await service.database.execute(
                    "UPDATE provider_identities SET \(unsafeSQL: change) WHERE provider <> 'apple'"
                )
                await expectFailure(.failedPrecondition, "LAST_PROVIDER") {
                    try await service.unlink(apple.accessToken, "apple")
                }
                if change.hasPrefix("provider") { continue }
                try await service.database.execute(
                    "UPDATE provider_identities SET disabled_at = NULL, unproven_dialect = NULL"
                )
            }
            _ = try await service.check(apple.accessToken)
            // Such a one goes itself.
            try await service.unlink(apple.accessToken, "former")
            #expect(try await service.identities().count == 1)
            for unknown in ["former", "unknown", "", "Apple"] {
                await expectFailure(.notFound, "PROVIDER_UNKNOWN") {
                    try await service.unlink(apple.accessToken, unknown)
                }
            }
        }
    }

    @Test func `Another account's provider can't be unlinked`() async throws {
        try await TestService.run { service in
            let apple = try await service.signInAnew()
            let google = try await service.signInByGoogle()
            try await service.unlink(apple.accessToken, "google")
            _ = try await service.check(google.accessToken)
            #expect(try await service.identities().count == 2)
        }
    }
}
