import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import IdentityService

/// A provider makes a guest's account a full one, and nothing of before opens it.
struct GuestLinkTests {
    @Test func `Linking keeps the id, ends all that was, and opens a new session`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            // However old the session is.
            service.clock.advance(seconds: 86_400)
            let old = try await service.refresh(guest.refreshToken).tokens
            let token = try service.googleToken()
            let response = try await service.linkResponse(old.accessToken, token: token)
            let tokens = response.tokens
            #expect(tokens.userID == guest.userID && tokens.sessionID != guest.sessionID)
            #expect(!response.account.isGuest && response.account.identities.map(\.provider) == ["google"])
            #expect(
                response.account.accountNumber == guest.accountNumber && tokens.accountNumber == guest.accountNumber
            )
            #expect(response.hasCallerProofs)
            let checked = try await service.check(tokens.accessToken)
            #expect(checked.userID == guest.userID && checked.proof == .nonce)
            #expect(try service.claims(ofIDToken: tokens.accessToken)["acr"] == "urn:vestibule:acr:provider")
            #expect(try service.claims(ofIDToken: tokens.idToken)["email"] == "maria@example.com")
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(old.accessToken) }
            for token in [guest.refreshToken, old.refreshToken] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.refresh(token) }
            }
            #expect(try await service.words("SELECT session_id::text FROM revocations") == [guest.sessionID])
            #expect(try await service.revokeReasons() == ["proven"])
            #expect(try await service.words("SELECT (guest_until IS NULL)::text FROM accounts") == ["true"])
            let event = "SELECT details ->> 'was_guest' FROM security_events WHERE kind = 'provider_linked'"
            #expect(try await service.words(event) == ["true"])
            #expect(try service.guests("linked") == 1)
            // The user signs in by it from now on, and links another one by the rules of all.
            service.clock.advance(seconds: 1)
            #expect(try await service.signInByGoogle().userID == guest.userID)
            let both = try await service.link(tokens.accessToken) {
                ($0.provider, $0.idToken) = ("apple", try service.provider.appleToken(at: service.clock))
            }
            #expect(both.identities.map(\.provider) == ["google", "apple"])
        }
    }

    @Test func `A session that was planted on the user's device opens nothing after the link`() async throws {
        try await TestService.runWithGuests { service in
            // The attacker begins as a guest, keeps the tokens, and plants them in the victim's browser.
            let planted = try await service.guest()
            let victims = try await service.refresh(planted.refreshToken).tokens
            _ = try await service.linkResponse(victims.accessToken, token: service.googleToken())
            for token in [planted.refreshToken, victims.refreshToken] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.refresh(token) }
            }
            // Nor does another identity get in by the old token, or a deletion.
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.linkResponse(victims.accessToken, token: service.googleToken("666"))
            }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await service.delete(victims.accessToken) }
            #expect(try await service.identities() == ["google 77 \(planted.userID)"])
        }
    }

    @Test func `A lost answer is had again with the old token, or by a sign-in`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            let token = try service.googleToken()
            let first = try await service.linkResponse(guest.accessToken, token: token).tokens
            let again = try await service.linkResponse(guest.accessToken, token: token).tokens
            #expect(again.sessionID == first.sessionID && again.userID == guest.userID)
            let signedIn = try await service.signIn(token: token, provider: "google").tokens
            #expect(signedIn.sessionID == first.sessionID)
            // Others' credentials get nothing by it.
            let other = try service.googleToken("88")
            _ = try await service.signIn(token: other, provider: "google")
            for token in [other, try service.googleToken("99"), try service.googleToken()] {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.linkResponse(guest.accessToken, token: token)
                }
            }
            service.clock.advance(seconds: 61)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.linkResponse(guest.accessToken, token: token)
            }
        }
    }

    @Test func `What is linked must be proven, and an identity of another account is taken`() async throws {
        try await TestService.runWithGuests { service in
            let guest = try await service.guest()
            let user = try await service.signInByGoogle()
            let taken = try service.googleToken()
            await expectFailure(.alreadyExists, "IDENTITY_TAKEN") {
                _ = try await service.linkResponse(guest.accessToken, token: taken)
            }
            #expect(try await service.count("absorptions") == 0)
            #expect(service.others.absorptions().calls.isEmpty)
            // The credentials are good for a sign-in.
            #expect(try await service.signIn(token: taken, provider: "google").tokens.userID == user.userID)
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") {
                try await service.link(guest.accessToken) {
                    ($0.provider, $0.clientID) = ("google", "example.apps.googleusercontent.com")
                    ($0.accessToken, $0.nonce) = ("token", "")
                }
            }
            await expectFailure(.unauthenticated, "TOKEN_NONCE_MISMATCH") {
                try await service.link(guest.accessToken) {
                    ($0.provider, $0.idToken, $0.nonce) = ("google", try service.googleToken("88"), "another")
                }
            }
            #expect(try await service.check(guest.accessToken).proof == .guest)
            #expect(try await service.account(guest.userID).isGuest)
        }
    }

    @Test func `Of two links of one guest at the same moment one is done, and the other's identity stays free`()
        async throws
    {
        try await TestService.runWithGuests { service in
            for round in 0..<12 {
                let guest = try await service.guest()
                let tokens = (0..<2).map { index in
                    Result { try service.googleToken("\(round).\(index)") }
                }
                let linked = try await withThrowingTaskGroup(of: Int?.self) { tasks in
                    for (index, token) in tokens.enumerated() {
                        tasks.addTask {
                            do {
                                _ = try await service.linkResponse(guest.accessToken, token: token.get())
                                return index
                            } catch let error as RPCError {
                                #expect(error.reason == "SESSION_REVOKED")
                                return nil
                            }
                        }
                    }
                    return try await tasks.reduce(into: [Int]()) { if let index = $1 { $0.append(index) } }
                }
                #expect(linked.count == 1)
                let live = "sessions WHERE user_id = '\(guest.userID)' AND revoked_at IS NULL"
                #expect(try await service.count(live) == 1)
                #expect(try await service.count("provider_identities WHERE user_id = '\(guest.userID)'") == 1)
                // The loser's credentials still sign in.
                let loser = try tokens[1 - (linked.first ?? 0)].get()
                let other = try await service.signIn(token: loser, provider: "google")
                #expect(other.isNewUser && other.tokens.userID != guest.userID)
            }
        }
    }

    @Test func `The same link twice at the same moment gives both the one session`() async throws {
        try await TestService.runWithGuests { service in
            for round in 0..<8 {
                let guest = try await service.guest()
                let token = try service.googleToken("\(round)")
                let sessions = try await withThrowingTaskGroup(of: String.self) { tasks in
                    for _ in 0..<3 {
                        tasks.addTask {
                            try await service.linkResponse(guest.accessToken, token: token).tokens.sessionID
                        }
                    }
                    return try await tasks.reduce(into: Set<String>()) { $0.insert($1) }
                }
                #expect(sessions.count == 1)
            }
        }
    }

    @Test func `A link beside refreshes and a sign-out ends all of the guest's or does nothing`() async throws {
        try await TestService.runWithGuests { service in
            for round in 0..<16 {
                let guest = try await service.guest()
                let token = try service.googleToken("\(round)")
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    tasks.addTask {
                        do { _ = try await service.linkResponse(guest.accessToken, token: token) } catch let error
                            as RPCError
                        {
                            #expect(error.reason == "SESSION_REVOKED" && round.isMultiple(of: 2), "\(error)")
                        }
                    }
                    for _ in 0..<2 { tasks.addTask { _ = try? await service.refresh(guest.refreshToken) } }
                    if round.isMultiple(of: 2) {
                        tasks.addTask { try await service.signOut(refreshToken: guest.refreshToken) }
                    }
                    try await tasks.waitForAll()
                }
                let row = try await service.words(
                    """
                    SELECT CASE WHEN guest_until IS NULL THEN 'full' ELSE 'guest' END || ' ' ||
                        (SELECT count(*) FROM sessions WHERE user_id = a.user_id AND revoked_at IS NULL) || ' ' ||
                        (SELECT count(*) FROM provider_identities WHERE user_id = a.user_id)
                    FROM accounts a WHERE user_id = '\(guest.userID)'
                    """
                )
                // Signed out first, the guest is no more than an account that nobody opens.
                #expect(row == ["full 1 1"] || round.isMultiple(of: 2) && row == ["guest 0 0"], "\(row)")
                await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                    _ = try await service.refresh(guest.refreshToken)
                }
            }
        }
    }
}
