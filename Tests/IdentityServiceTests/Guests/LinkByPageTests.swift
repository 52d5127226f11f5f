import API
import IdentityDomain
import JOSE
import Models
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

/// An identity is linked by a provider's page, for the session that began it.
struct LinkByPageTests {
    private static func run(_ body: (TestService) async throws -> Void) async throws {
        try await TestService.run(providers: WebSignInTests.providers(), guests: .on(), body)
    }

    @Test func `A guest links by the page, and the app that began it gets the session`() async throws {
        try await Self.run { service in
            let guest = try await service.guest()
            let tickets = try await service.finish(
                service.begin(linking: guest.accessToken),
                fullName: "Ana Cruz",
                isLink: true
            )
            #expect(tickets.provider == "apple")
            let linked = try await service.link(by: tickets)
            #expect(linked.tokens.userID == guest.userID && linked.tokens.sessionID != guest.sessionID)
            #expect(linked.account.identities.map(\.subject) == ["001.person"] && !linked.account.isGuest)
            #expect(linked.account.suggestedDisplayName == "Ana Cruz")
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(guest.refreshToken)
            }
            // The answer was lost.
            let again = try await service.link(by: tickets)
            #expect(again.tokens.sessionID == linked.tokens.sessionID)
            #expect(try await service.count("accounts") == 1)
        }
    }

    @Test func `A user links by the page by the rules of all linking`() async throws {
        try await Self.run { service in
            let user = try await service.signInByGoogle()
            let tickets = try await service.finish(service.begin(linking: user.accessToken), isLink: true)
            service.clock.advance(seconds: 30)
            let linked = try await service.link(by: tickets)
            #expect(linked.account.userID == user.userID)
            #expect(linked.account.identities.map(\.provider) == ["google", "apple"])
            _ = try await service.check(user.accessToken)
            let late = try await service.signInByGoogle("88")
            let others = try await service.finish(
                service.begin(linking: late.accessToken),
                subject: "002",
                isLink: true
            )
            try await service.setProof("fresh", of: late)
            await expectFailure(.permissionDenied, "PROOF_REQUIRED") { _ = try await service.link(by: others) }
        }
    }

    @Test func `Its tickets sign nobody in, delete nothing, and are the app's alone`() async throws {
        try await Self.run { service in
            let guest = try await service.guest()
            let tickets = try await service.finish(service.begin(linking: guest.accessToken), isLink: true)
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await service.redeem(tickets) }
            #expect(try await service.count("accounts") == 1)
            // Who has the code and not the verifier: the person who was made to visit another's page.
            let foreign = String(WebSignInTests.verifier.reversed())
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                _ = try await service.link(by: tickets, verifier: foreign)
            }
            // Nor does another session get what belongs to this one.
            let other = try await service.guest()
            let user = try await service.signInByGoogle()
            for token in [other.accessToken, user.accessToken] {
                await expectFailure(.unauthenticated, "TICKET_INVALID") {
                    _ = try await service.link(by: tickets, accessToken: token)
                }
            }
            // With the session's own token it is the same.
            let linked = try await service.link(by: tickets, accessToken: guest.accessToken)
            #expect(linked.tokens.userID == guest.userID)
        }
    }

    @Test func `Tickets of a sign-in link nothing without a token, nor does anything else`() async throws {
        try await Self.run { service in
            let tickets = try await service.finish(service.begin())
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { _ = try await service.link(by: tickets) }
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                try await service.linkGoogle("", token: service.googleToken())
            }
            #expect(try await service.redeem(tickets).isNewUser)
        }
    }

    @Test func `The form of a sign-in is none of a link, nor the other way round`() async throws {
        try await Self.run { service in
            let guest = try await service.guest()
            let (link, signIn) = (try await service.begin(linking: guest.accessToken), try await service.begin())
            for (begun, isLink) in [(link, false), (signIn, true)] {
                await expectFailure(.unauthenticated, "WEB_STATE_INVALID") {
                    _ = try await service.finish(begun, isLink: isLink)
                }
            }
            #expect(try await service.count("web_tickets") == 0)
        }
    }

    @Test func `A session that has ended meanwhile links nothing`() async throws {
        try await Self.run { service in
            let guest = try await service.guest()
            let tickets = try await service.finish(service.begin(linking: guest.accessToken), isLink: true)
            try await service.signOut(refreshToken: guest.refreshToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.link(by: tickets) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.begin(linking: guest.accessToken)
            }
            #expect(try await service.count("provider_identities") == 0)
        }
    }
}

extension TestService {
    fileprivate func begin(linking accessToken: String) async throws -> IdentityV1.BeginWebSignInResponse {
        try await client.beginWebSignIn(
            .with {
                ($0.provider, $0.codeChallenge, $0.linkingAccessToken) = (
                    "apple", WebSignInTests.challenge, accessToken
                )
                ($0.appURL, $0.redirectUri) = ("app://x?a=1", WebSignInTests.callback)
            }
        )
    }

    fileprivate func link(
        by tickets: IdentityV1.FinishWebSignInResponse,
        verifier: String = WebSignInTests.verifier,
        accessToken: String = ""
    ) async throws -> IdentityV1.LinkProviderResponse {
        try await client.linkProvider(
            .with {
                $0.accessToken = accessToken
                $0.credentials.provider = "apple"
                ($0.credentials.idToken, $0.credentials.authorizationCode) = (tickets.idTokenTicket, tickets.codeTicket)
                $0.credentials.codeVerifier = verifier
                $0.opensSession = true
            }
        )
    }
}
