import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore
import SwiftProtobuf
import Testing

@testable import IdentityService

/// A guest who has signed in to an account that exists.
struct GuestMergeTests {
    private static func run(
        _ body: (TestService, _ guest: IdentityV1.SessionTokens, _ user: IdentityV1.SessionTokens) async throws -> Void
    ) async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            try await body(service, guest, service.signInByGoogle())
        }
    }

    private static func metadata(_ json: String, _ userID: String, _ service: TestService) async throws {
        _ = try await service.client.updateUserMetadata(
            .with { $0.changesJson = json },
            options: service.options(for: userID)
        )
    }

    @Test func `Merged, the account takes the guest's place`() async throws {
        try await Self.run { service, guest, user in
            try await Self.metadata(#"{"cart":[1]}"#, guest.userID, service)
            try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [user.userID])
            let closing = "SELECT user_id || ' ' || why || ' ' || successor FROM account_closings"
            #expect(try await service.words(closing) == ["\(guest.userID) absorbed \(user.userID)"])
            #expect(try await service.account(user.userID).metadataJson == #"{"cart":[1]}"#)
            #expect(service.others.absorptions().calls == ["invites.closeIfEmpty", "profile.closeIfEmpty"])
            #expect(try await service.count("absorptions") == 0)
            await expectFailure(.unauthenticated, "SESSION_INVALID") { _ = try await service.check(guest.accessToken) }
            _ = try await service.check(user.accessToken)
            for runner in service.parts.closings { await runner.round() }
            #expect(service.others.closed(at: "profile") == [guest.userID])
            #expect(service.others.successors == [guest.userID: user.userID])
            let event = "SELECT details ->> 'merged_into' FROM security_events WHERE kind = 'account_closed'"
            #expect(try await service.words(event) == [user.userID])
            // The account's own log says where the groups come from.
            let merged =
                "SELECT user_id || ' ' || (details ->> 'absorbed') FROM security_events WHERE kind = 'guest_merged'"
            #expect(try await service.words(merged) == ["\(user.userID) \(guest.userID)"])
            #expect(try service.guests("merged") == 1)
            // Again, as by a client that lost the answer.
            try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            #expect(try await service.count("account_closings") == 1)
        }
    }

    @Test func `Dropped, the guest is deleted and has no successor`() async throws {
        try await Self.run { service, guest, user in
            try await service.absorb(guest.refreshToken, .drop, by: user.accessToken)
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [user.userID])
            #expect(try await service.words("SELECT why FROM account_closings WHERE successor IS NULL") == ["deleted"])
            for runner in service.parts.closings { await runner.round() }
            #expect(service.others.closed(at: "invites") == [guest.userID])
            #expect(service.others.successors.isEmpty)
            #expect(try service.guests("dropped") == 1)
            try await service.absorb(guest.refreshToken, .drop, by: user.accessToken)
        }
    }

    @Test func `The account's metadata wins`() async throws {
        try await Self.run { service, guest, user in
            try await Self.metadata(#"{"cart":[1]}"#, guest.userID, service)
            try await Self.metadata(#"{"theme":"dark"}"#, user.userID, service)
            try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            #expect(try await service.account(user.userID).metadataJson == #"{"theme":"dark"}"#)
        }
    }

    @Test(arguments: [IdentityV1.GuestOutcome.drop, .merge])
    func `Both sides must be proven`(outcome: IdentityV1.GuestOutcome) async throws {
        try await Self.run { service, guest, user in
            for proof in ["fresh", "access_token"] {
                try await service.setProof(proof, of: user)
                await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                    try await service.absorb(guest.refreshToken, outcome, by: user.accessToken)
                }
            }
            try await service.setProof("nonce", of: user)
            let others = try await service.signInAnew()
            for token in [
                "x", "", guest.refreshToken + "x", guest.accessToken, others.refreshToken, others.accessToken,
                user.refreshToken,
                try await service.signInSingle().singleToken,
            ] {
                await expectFailure(.invalidArgument, "GUEST_TOKEN_INVALID") {
                    try await service.absorb(token, outcome, by: user.accessToken)
                }
            }
            await expectFailure(.invalidArgument, "GUEST_INVALID") {
                try await service.absorb(guest.refreshToken, .unspecified, by: user.accessToken)
            }
            // An old sign-in.
            service.clock.advance(seconds: 660)
            let late = try await service.refresh(user.refreshToken).tokens
            await expectFailure(.permissionDenied, "RECENT_SIGN_IN_REQUIRED") {
                try await service.absorb(guest.refreshToken, outcome, by: late.accessToken)
            }
            // A token that was replaced.
            let again = try await service.signInByGoogle()
            let next = try await service.refresh(guest.refreshToken).tokens
            _ = try await service.refresh(next.refreshToken)
            await expectFailure(.invalidArgument, "GUEST_TOKEN_INVALID") {
                try await service.absorb(guest.refreshToken, outcome, by: again.accessToken)
            }
            #expect(try await service.count("account_closings") == 0)
            #expect(try await service.count("absorptions") == 0)
        }
    }

    @Test(arguments: [IdentityV1.GuestOutcome.drop, .merge])
    func `A guest who was linked or signed out is none any more`(outcome: IdentityV1.GuestOutcome) async throws {
        try await Self.run { service, guest, user in
            _ = try await service.linkResponse(guest.accessToken, token: service.googleToken("88"))
            let other = try await service.guest()
            try await service.signOut(refreshToken: other.refreshToken)
            for tokens in [guest, other] {
                await expectFailure(.invalidArgument, "GUEST_TOKEN_INVALID") {
                    try await service.absorb(tokens.refreshToken, outcome, by: user.accessToken)
                }
            }
            #expect(try await service.count("accounts") == 3)
        }
    }

    @Test func `A blocked account or guest is merged in no direction`() async throws {
        for blocked in [true, false] {
            try await Self.run { service, guest, user in
                let userID = blocked ? guest.userID : user.userID
                try await service.database.execute(
                    "UPDATE accounts SET blocked_at = now(), block_reason = 'spam' WHERE user_id::text = \(userID)"
                )
                await expectFailure(.permissionDenied, "ACCOUNT_BLOCKED") {
                    try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
                }
                #expect(try await service.count("accounts") == 2)
                #expect(service.others.absorptions().held.isEmpty)
            }
        }
    }

    @Test(arguments: [false, true])
    func `Blocked between two steps neither absorbs nor is absorbed, and the other goes on`(isGuest: Bool) async throws
    {
        try await Self.run { service, guest, user in
            let (blocked, other) = isGuest ? (guest, user) : (user, guest)
            _ = service.others.absorptions { $0.lost = ["after invites.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            }
            try await service.database.execute(
                "UPDATE accounts SET blocked_at = now(), block_reason = 'spam' WHERE user_id::text = \(blocked.userID)"
            )
            service.clock.advance(seconds: 30)
            await service.parts.methods.absorber.round()
            #expect(try await service.count("absorptions") == 0)
            #expect(try await service.count("accounts") == 2)
            #expect(service.others.absorptions().held.isEmpty)
            #expect(try await service.check(other.accessToken).userID == other.userID)
            #expect(
                try await service.words("SELECT user_id::text FROM accounts WHERE blocked_at IS NOT NULL") == [
                    blocked.userID
                ]
            )
        }
    }

    @Test(
        arguments: [
            "before invites.closeIfEmpty", "after invites.closeIfEmpty", "before profile.closeIfEmpty",
            "after profile.closeIfEmpty",
        ]
    )
    func `A crash at any step loses nothing: another process goes on`(lost: String) async throws {
        try await Self.run { service, guest, user in
            _ = service.others.absorptions { $0.lost = [lost] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            }
            // Meanwhile it neither expires nor is linked.
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                _ = try await service.linkResponse(guest.accessToken, token: service.googleToken("88"))
            }
            service.clock.advance(seconds: 11)
            await service.parts.methods.absorber.round()
            #expect(try await service.words("SELECT user_id::text FROM accounts") == [user.userID])
            for runner in service.parts.closings { await runner.round() }
            #expect(service.others.successors == [guest.userID: user.userID])
            // The client asks again.
            try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            #expect(try service.guests("merged") == 1)
        }
    }

    @Test func `While a merge is under way the guest doesn't expire`() async throws {
        try await Self.run { (service, guest, user) async throws in
            _ = service.others.absorptions { $0.lost = ["before profile.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            }
            service.clock.advance(seconds: 100 * 86_400)
            _ = await service.parts.guests.round()
            #expect(try await service.count("accounts") == 2)
            await service.parts.methods.absorber.round()
            let closing = "SELECT user_id || ' ' || successor FROM account_closings"
            #expect(try await service.words(closing) == ["\(guest.userID) \(user.userID)"])
        }
    }

    @Test func `If the account is deleted at the last moment the guest goes with it, without successor`() async throws {
        try await Self.run { service, guest, user in
            _ = service.others.absorptions { $0.lost = ["after profile.closeIfEmpty"] }
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            }
            try await service.delete(user.accessToken)
            service.clock.advance(seconds: 11)
            await service.parts.methods.absorber.round()
            #expect(try await service.count("accounts") == 0)
            #expect(try await service.count("account_closings WHERE successor IS NULL") == 2)
        }
    }

    @Test func `A merge beside the guest's own deletion, and beside another merge, leaves one account`() async throws {
        try await TestService.runWithGuests { service in
            for round in 0..<8 {
                let guest = try await service.guest()
                let users = [
                    try await service.signInByGoogle("\(round)"), try await service.signInAnew(subject: "\(round)"),
                ]
                await withTaskGroup(of: Void.self) { tasks in
                    for user in users {
                        tasks.addTask {
                            _ = try? await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
                        }
                    }
                    if round.isMultiple(of: 2) { tasks.addTask { _ = try? await service.delete(guest.accessToken) } }
                }
                service.clock.advance(seconds: 11)
                await service.parts.methods.absorber.round()
                #expect(try await service.count("accounts WHERE user_id = '\(guest.userID)'") == 0)
                #expect(try await service.count("account_closings WHERE user_id = '\(guest.userID)'") == 1)
                #expect(try await service.count("absorptions") == 0)
                for user in users { _ = try await service.check(user.accessToken) }
            }
        }
    }

    @Test func `An account that waits for a guest's groups is absorbed by none`() async throws {
        try await Self.run { service, guest, user in
            try await service.absorb(guest.refreshToken, .merge, by: user.accessToken)
            _ = try await service.signInAnew()
            let token = try service.provider.appleToken(at: service.clock, ["jti": "link"])
            await expectFailure(.unavailable, "ACCOUNT_HELD") {
                _ = try await service.linkResponse(user.accessToken, token: token, provider: "apple")
            }
            for runner in service.parts.closings { await runner.round() }
            _ = try await service.linkResponse(user.accessToken, token: token, provider: "apple")
            #expect(try await service.count("accounts") == 1)
        }
    }
}
