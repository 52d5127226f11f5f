import API
import Models
import Postgres
import RPC
import ServiceModels
import Testing

@testable import IdentityService

/// An account is deleted shortly before its absorption.
struct LostAbsorptionTests {
    @Test func `The absorbing account's scheduled deletion is cancelled`() async throws {
        try await AbsorptionTests.run { service, apple, google in
            _ = service.others.absorptions { $0.withNumber = [apple.userID] }
            for weak in [try await service.signInAnew(), google] {
                try await service.setProof("fresh", of: weak)
                #expect(try await service.askForDeletion(weak.accessToken).deletesAtMs > 0)
            }
            #expect(try await service.count("scheduled_deletions") == 2)
            try await service.linkGoogle(apple.accessToken, token: service.googleToken())
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [apple.userID])
            #expect(try await service.count("scheduled_deletions") == 0)
            let cancelled = try await service.words(
                "SELECT user_id::text FROM security_events WHERE kind = 'deletion_cancelled'"
            )
            #expect(cancelled == [apple.userID])
            service.clock.advance(seconds: 8 * 86_400)
            await service.parts.deletions.round()
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `If the other account is deleted at the last moment, the link fails and succeeds the next time`()
        async throws
    {
        try await AbsorptionTests.run { service, apple, google in
            try await service.database.execute(
                """
                CREATE FUNCTION deletion() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN DELETE FROM accounts WHERE user_id = NEW.absorbed; RETURN NEW; END $$
                """
            )
            try await service.database.execute(
                """
                CREATE TRIGGER deletion AFTER UPDATE ON absorptions FOR EACH ROW WHEN (NEW.state = 'moving')
                EXECUTE FUNCTION deletion()
                """
            )
            let token = try service.googleToken()
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.linkGoogle(apple.accessToken, token: token)
            }
            #expect(try await service.identities() == ["apple 001.person \(apple.userID)"])
            let account = try await service.linkGoogle(apple.accessToken, token: token)
            #expect(account.identities.map(\.provider) == ["apple", "google"])
            _ = google
        }
    }
}
