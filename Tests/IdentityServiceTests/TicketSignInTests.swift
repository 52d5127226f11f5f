import API
import IdentityDomain
import JOSE
import Postgres
import RPC
import Testing

@testable import IdentityService

struct TicketSignInTests {
    private static let tickets = ("vit1_ticket", "vct1_ticket")

    private func signIn(
        _ service: TestService,
        verifier: String = "",
        name: String = "",
        subject: String = "",
        create: Bool = true
    ) async throws -> IdentityV1.SignInResponse {
        try await service.signIn {
            ($0.idToken, $0.authorizationCode) = Self.tickets
            ($0.codeVerifier, $0.fullName, $0.expectedSubject) = (verifier, name, subject)
            $0.create = create
        }
    }

    @Test func `Tickets sign in once, and a lost answer is had again`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken(at: service.clock)
            try await service.exchange.makeTicket(
                Self.tickets.0,
                token: token,
                verifier: "verifier",
                fullName: "Ana Cruz",
                service: service
            )
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await signIn(service) }
            #expect(try await service.count("web_tickets") == 1, "a wrong verifier takes nothing from its owner")
            let first = try await signIn(service, verifier: "verifier")
            #expect(first.proof == .fresh)
            #expect(first.suggestedDisplayName == "Ana Cruz")
            #expect(try await service.count("web_tickets") == 0)
            let stillKnown = try await signIn(service, verifier: "verifier")
            service.exchange.forgetTicket(Self.tickets.0)
            let again = try await signIn(service, verifier: "verifier", subject: "001.person")
            #expect(Set([first, stillKnown, again].map(\.tokens.sessionID)).count == 1)
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await signIn(service, verifier: "x") }
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") {
                _ = try await signIn(service, verifier: "verifier", subject: "002.other")
            }
            service.clock.advance(seconds: 61)
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                _ = try await signIn(service, verifier: "verifier")
            }
        }
    }

    @Test func `The token behind a ticket buys one session, whichever way`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken(at: service.clock)
            try await service.exchange.makeTicket(Self.tickets.0, token: token, service: service)
            let byTicket = try await signIn(service)
            let byToken = try await service.signIn { $0.idToken = token }
            #expect(byToken.tokens.sessionID == byTicket.tokens.sessionID)
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `Concurrent takers of a ticket get one session`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken(at: service.clock)
            try await service.exchange.makeTicket(Self.tickets.0, token: token, service: service)
            let responses = try await gather(16) { _ in try await signIn(service) }
            #expect(Set(responses.map(\.tokens.sessionID)).count == 1)
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `A ticket that was taken by nobody we know buys nothing`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken(at: service.clock)
            try await service.exchange.makeTicket(Self.tickets.0, token: token, service: service)
            try await service.database.execute("DELETE FROM web_tickets")
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await signIn(service) }
            #expect(try await service.count("sign_ins") == 0)
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                try await service.signIn { $0.authorizationCode = Self.tickets.1 }
            }
        }
    }

    @Test func `Refusals leave the ticket`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken(at: service.clock)
            try await service.exchange.makeTicket(Self.tickets.0, token: token, service: service)
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") { _ = try await signIn(service, create: false) }
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") {
                _ = try await signIn(service, subject: "002.other")
            }
            #expect(try await service.count("web_tickets") == 1)
            #expect(try await signIn(service).isNewUser)
        }
    }

    @Test func `Behind a ticket a code proves where the audience asks for it`() async throws {
        try await TestService.runWithAudiences { service in
            let token = try service.provider.bareToken("com.example.coded", at: service.clock)
            try await service.exchange.makeTicket(Self.tickets.0, token: token, code: "code-1", service: service)
            await expectFailure(.unauthenticated, "CODE_SPENT") { _ = try await signIn(service) }
            #expect(try await service.count("web_tickets") == 1)
            let exchanged = try service.provider.bareToken("com.example.coded", at: service.clock, ["at_hash": "x"])
            try service.exchange.answer(exchanged, for: "code-1", service: service)
            let first = try await signIn(service)
            #expect(first.proof == .code)
            service.exchange.forgetTicket(Self.tickets.0)
            #expect(try await signIn(service).tokens.sessionID == first.tokens.sessionID)
        }
    }

    @Test func `An e-mail beside a ticket never replaces a token's`() async throws {
        try await TestService.runWithAudiences { service in
            let userID = try await service.signIn().tokens.userID
            let token = try service.provider.bareToken(at: service.clock, ["email": nil as JSONValue?])
            try await service.exchange.makeTicket(
                Self.tickets.0,
                token: token,
                email: "ceo@victim.example",
                service: service
            )
            #expect(try await signIn(service).tokens.userID == userID)
            let identity = try #require(try await service.account(userID).identities.first)
            #expect(identity.email == "person@privaterelay.appleid.com" && identity.emailVerified)
        }
    }
}
