import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// What a guest may not do.
struct GuestRefusalTests {
    @Test func `A guest unlinks nothing, proves no number, and merges no other guest`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            await expectFailure(.permissionDenied, "GUEST_NOT_ALLOWED") {
                try await service.unlink(guest.accessToken, "google")
            }
            let proofs = try await service.check(guest.accessToken).callerProofs
            var options = CallOptions()
            options.metadata.add(CallerProofKey.metadataName, proofs.identity)
            await expectFailure(.permissionDenied, "GUEST_NOT_ALLOWED") {
                _ = try await service.client.provePhone(.with { $0.assertion = "x" }, options: options)
            }
            let other = try await service.guest()
            for outcome in [IdentityV1.GuestOutcome.drop, .merge] {
                await expectFailure(.permissionDenied, "GUEST_NOT_ALLOWED") {
                    try await service.absorb(other.refreshToken, outcome, by: guest.accessToken)
                }
            }
            #expect(try await service.count("accounts") == 2)
        }
    }

    @Test func `A guest deletes the account at once, and the services hear of it`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            service.clock.advance(seconds: 7 * 86_400)
            let token = try await service.refresh(guest.refreshToken).tokens.accessToken
            #expect(try await service.askForDeletion(token).deletesAtMs == 0)
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.words("SELECT why FROM account_closings") == ["deleted"])
            #expect(try await service.count("work WHERE queue LIKE 'closings.%'") == 2)
            // Again, as by a client that lost the answer.
            #expect(try await service.askForDeletion(token).deletesAtMs == 0)
        }
    }

    @Test func `No number opens an imported account for a guest, and no operator does`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            let holder = try #require(UserID("0b9a5b5e-0000-4000-8000-000000000001"))
            try await service.database.execute(
                """
                INSERT INTO accounts (user_id, created_at, imported_at) VALUES (\(holder.uuid), now(), now())
                """
            )
            for ground in [
                AccountOpening.Ground.byOperator("ops"), .proof("assertion", isSignInProven: true),
            ] {
                let begun = try await service.parts.methods.store.beginOpening(
                    EventID(holder.uuid),
                    of: holder,
                    for: try #require(UserID(guest.userID)),
                    ground,
                    nowMilliseconds: service.clock.nowMilliseconds,
                    deadline: nil
                )
                guard case .refused(.notAbsorbable) = begun else {
                    Issue.record("\(begun)")
                    continue
                }
            }
            #expect(try await service.count("absorptions") == 0)
        }
    }

    @Test func `A blocked guest is out, and can't be linked`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            try await service.database.execute(
                "UPDATE accounts SET blocked_at = now(), block_reason = 'spam' WHERE user_id::text = \(guest.userID)"
            )
            // The session is live here, as for one moment of a block.
            await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED") {
                _ = try await service.linkResponse(guest.accessToken, token: service.googleToken())
            }
            #expect(try await service.count("provider_identities") == 0)
        }
    }
}
