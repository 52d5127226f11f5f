import API
import IdentityDomain
import Postgres
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// What bounds a flood of guests.
struct GuestLimitTests {
    @Test func `Beyond a limit nothing is written, however often a proof comes again`() async throws {
        let policy = GuestPolicy.on { $0.perAddress = GuestPolicy.hourly("guests_of_address", 1) }
        try await TestService.runWithGuests(policy) { service in
            let (used, unused) = (try await service.proofOfWork(), try await service.proofOfWork())
            let guest = try await service.guest(proof: used, address: "192.0.2.1")
            try await service.database.execute(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'written'; END $$
                """
            )
            try await service.database.execute(
                "CREATE TRIGGER fail BEFORE INSERT ON sign_ins FOR EACH ROW EXECUTE FUNCTION fail()"
            )
            await expectFailure(.resourceExhausted, "TOO_MANY_GUESTS") {
                _ = try await service.guest(proof: unused, address: "192.0.2.1")
            }
            // The response that was lost is had again, though the limit is reached.
            #expect(try await service.guest(proof: used, address: "192.0.2.1").sessionID == guest.sessionID)
        }
    }

    @Test func `A site of IPv6 has sixteen times an address's limit, and so have all without an address`() async throws
    {
        let policy = GuestPolicy.on {
            $0.perAddress = GuestPolicy.hourly("guests_of_address", 1)
            $0.workBits = 0
        }
        try await TestService.runWithGuests(policy) { (service) async throws in
            func ask(_ address: String?) async -> Bool {
                (try? await service.guest(proof: "", address: address)) != nil
            }
            func opened(_ addresses: [String?]) async -> Int {
                var count = 0
                for address in addresses { if await ask(address) { count += 1 } }
                return count
            }
            let households = (0..<20).map { "2001:db8:7:\(String($0 << 8, radix: 16))::1" }
            #expect(await opened(households) == 16)
            #expect(await ask("2001:db8:8::1"))
            #expect(await opened((0..<20).map { $0.isMultiple(of: 2) ? nil : "10.0.0.\($0)" }) == 16)
            #expect(await ask("192.0.2.1"))
            #expect(try service.guests("limited") == 8 && service.guests("limited_in_all") == 0)
        }
    }

    @Test func `The work rises with the guests of the hour`() async throws {
        let policy = GuestPolicy.on { $0.all = GuestPolicy.hourly("guests", 10) }
        #expect((0...10).map { policy.workBits(after: $0) } == [4, 4, 4, 4, 4, 4, 5, 6, 7, 8, 9])
        #expect(GuestPolicy.on { $0.workBits = 0 }.workBits(after: 10_000) == 0)
        #expect(GuestPolicy.on { $0.workBits = 24 }.workBits(after: 10_000) == GuestChallenges.workBitsMax)
        try await TestService.runWithGuests(policy) { service in
            let early = try await service.proofOfWork()
            for index in 1...8 { _ = try await service.guest(address: "192.0.2.\(index)") }
            // Known for some seconds, so that a challenge costs no query.
            #expect(try await service.client.createGuestChallenge(.init()).workBits == 4)
            service.clock.advance(seconds: 6)
            #expect(try await service.client.createGuestChallenge(.init()).workBits == 7)
            // A challenge says itself how much it demands.
            _ = try await service.guest(proof: early, address: "192.0.2.9")
            _ = try await service.guest(address: "192.0.2.10")
            await expectFailure(.resourceExhausted, "TOO_MANY_GUESTS") {
                _ = try await service.guest(address: "192.0.2.11")
            }
            #expect(try service.guests("limited_in_all") == 1)
            service.clock.advance(seconds: 3_601)
            #expect(try await service.client.createGuestChallenge(.init()).workBits == 4)
        }
    }

    @Test func `A guest's metadata is small, and a user's may grow`() async throws {
        try await TestService.runWithGuests { service in
            func keep(_ count: Int, _ accessToken: String) async throws {
                var options = CallOptions()
                let proofs = try await service.check(accessToken).callerProofs
                options.metadata.add(CallerProofKey.metadataName, proofs.identity)
                // {"a":"…"}
                let text = String(repeating: "x", count: count - 8)
                _ = try await service.client.updateUserMetadata(
                    .with { $0.changesJson = "{\"a\":\"\(text)\"}" },
                    options: options
                )
            }
            let guest = try await service.guest()
            try await keep(GuestLimits.metadataBytesMax, guest.accessToken)
            await expectFailure(.invalidArgument, "METADATA_TOO_LARGE") {
                try await keep(GuestLimits.metadataBytesMax + 1, guest.accessToken)
            }
            let full = try await service.linkResponse(guest.accessToken, token: service.googleToken()).tokens
            try await keep(UserMetadata.bytesMax, full.accessToken)
        }
    }
}
