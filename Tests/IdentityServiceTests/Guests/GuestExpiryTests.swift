import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import IdentityService

/// Guests who don't come back.
struct GuestExpiryTests {
    private static let day: Int64 = 86_400

    private static func run(_ body: (TestService) async throws -> Void) async throws {
        try await TestService.runWithGuests(.on { $0.inactivitySeconds = 3 * day }, body)
    }

    @Test func `A guest who was not used for the time is deleted, everywhere; others stay`() async throws {
        try await Self.run { service in
            let lost = try await service.guest()
            let used = try await service.guest()
            let linked = try await service.guest()
            let full = try await service.linkResponse(linked.accessToken, token: service.googleToken()).tokens
            let user = try await service.signInAnew()
            service.clock.advance(seconds: 2 * Self.day)
            let fresh = try await service.refresh(used.refreshToken).tokens
            _ = await service.parts.guests.round()
            #expect(try await service.count("accounts") == 4)
            service.clock.advance(seconds: Self.day + 1)
            _ = await service.parts.guests.round()
            #expect(
                try await Set(service.words("SELECT user_id::text FROM accounts")) == [
                    used.userID, full.userID, user.userID,
                ]
            )
            let closings = try await service.words("SELECT user_id || ' ' || why FROM account_closings")
            #expect(closings == ["\(lost.userID) guest_expired"])
            #expect(try await service.count("work WHERE queue LIKE 'closings.%' AND user_id = '\(lost.userID)'") == 2)
            let event = "SELECT details ->> 'reason' FROM security_events WHERE kind = 'account_closed'"
            #expect(try await service.words(event) == ["guest_expired"])
            await expectFailure(.unauthenticated, "SESSION_INVALID") {
                _ = try await service.refresh(lost.refreshToken)
            }
            #expect(try service.guests("expired") == 1)
            // The one that was used has time anew, from its use.
            _ = try await service.refresh(fresh.refreshToken)
            service.clock.advance(seconds: 3 * Self.day + 1)
            _ = await service.parts.guests.round()
            #expect(try await service.count("accounts") == 2)
        }
    }

    @Test func `A guest who signed out is deleted when the time is over`() async throws {
        try await Self.run { service in
            let guest = try await service.guest()
            service.clock.advance(seconds: 2 * Self.day)
            let token = try await service.refresh(guest.refreshToken).tokens.refreshToken
            try await service.signOut(refreshToken: token)
            service.clock.advance(seconds: Self.day + 1)
            _ = await service.parts.guests.round()
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `A guest outlives the longest session`() async throws {
        var limits = SessionLimits()
        limits.absoluteSeconds = 10 * Self.day
        try await TestService.runWithGuests(limits: limits, .on { $0.inactivitySeconds = 3 * Self.day }) { service in
            var tokens = try await service.guest()
            for _ in 0..<10 {
                service.clock.advance(seconds: 2 * Self.day)
                tokens = try await service.refresh(tokens.refreshToken).tokens
                _ = await service.parts.guests.round()
            }
            let full = try await service.linkResponse(tokens.accessToken, token: service.googleToken()).tokens
            service.clock.advance(seconds: 11 * Self.day)
            await expectFailure(.unauthenticated, "SESSION_EXPIRED") {
                _ = try await service.refresh(full.refreshToken)
            }
        }
    }

    @Test func `Used at the moment of its end a guest stays whole or is gone whole`() async throws {
        try await Self.run { service in
            var (stayed, left) = (0, 0)
            for round in 0..<24 {
                let guest = try await service.guest()
                service.clock.advance(seconds: 3 * Self.day + 1)
                let linkToken = try service.googleToken("\(round)")
                let isLinking = round.isMultiple(of: 3)
                // An access token lives for minutes only: of this moment.
                let access = isLinking ? try await service.refresh(guest.refreshToken).tokens.accessToken : ""
                if isLinking {
                    try await service.database.execute(
                        "UPDATE sessions SET last_used_at = last_used_at - interval '4 days' WHERE session_id::text = \(guest.sessionID)"
                    )
                }
                async let cleaned = service.parts.guests.round()
                let survived: Bool
                if isLinking {
                    survived = (try? await service.linkResponse(access, token: linkToken)) != nil
                } else {
                    survived = (try? await service.refresh(guest.refreshToken)) != nil
                }
                _ = await cleaned
                let accounts = try await service.count("accounts WHERE user_id = '\(guest.userID)'")
                let live = try await service.count(
                    "sessions WHERE user_id = '\(guest.userID)' AND revoked_at IS NULL"
                )
                #expect(accounts == (survived ? 1 : 0) && live == accounts, "round \(round)")
                if survived { stayed += 1 } else { left += 1 }
                // Nobody's credentials are lost with it.
                if isLinking, !survived {
                    #expect(try await service.signIn(token: linkToken, provider: "google").isNewUser)
                }
            }
            #expect(stayed + left == 24)
        }
    }

    @Test func `One that fails holds up no other`() async throws {
        try await Self.run { service in
            let first = try await service.guest()
            for _ in 0..<4 { _ = try await service.guest() }
            try await service.database.execute(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN IF OLD.user_id::text = '\(unsafeSQL: first.userID)' THEN RAISE EXCEPTION 'no'; END IF; RETURN OLD; END $$
                """
            )
            try await service.database.execute(
                "CREATE TRIGGER fail BEFORE DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION fail()"
            )
            service.clock.advance(seconds: 3 * Self.day + 1)
            _ = await service.parts.guests.round()
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [first.userID])
            #expect(try service.guests("expired") == 4 && service.guests("expiry_failed") == 1)
            try await service.database.execute("DROP TRIGGER fail ON accounts")
            service.clock.advance(seconds: 601)
            _ = await service.parts.guests.round()
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `Many are deleted a few at a time, each by one process`() async throws {
        try await TestService.runWithGuests(
            .on {
                ($0.inactivitySeconds, $0.workBits) = (3 * Self.day, 0)
                $0.perAddress = GuestPolicy.hourly("guests_of_address", 1_000)
            }
        ) { service in
            let count = GuestExpiry.accountsMax + 3
            for _ in 0..<count { _ = try await service.guest(proof: "") }
            service.clock.advance(seconds: 3 * Self.day + 1)
            let store = service.parts.methods.store
            let policy = service.settings.guests
            // Another process has found two, and dies.
            #expect(
                try await store.dueGuests(policy, nowMilliseconds: service.clock.nowMilliseconds, limit: 2).users.count
                    == 2
            )
            #expect(await service.parts.guests.round())
            #expect(try await service.count("accounts") == 3)
            #expect(await !service.parts.guests.round())
            #expect(try await service.count("accounts") == 2)
            service.clock.advance(seconds: 181)
            _ = await service.parts.guests.round()
            #expect(try await service.count("accounts") == 0)
            #expect(try service.guests("expired") == count)
        }
    }

    @Test func `The cleaning up doesn't wait for guests`() async throws {
        try await Self.run { service in
            _ = try await service.guest()
            service.clock.advance(seconds: 3 * Self.day + 1)
            await service.parts.cleanup.clean()
            #expect(try await service.count("accounts") == 1)
            #expect(try await service.count("sign_ins") == 0)
        }
    }
}
