import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Tickets of sign-ins in a browser, taken once.
struct WebTicketTests {
    @Test func `Tickets are taken once, and a retry gets the same session`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finish(service.begin())
            let responses = try await gather(24) { _ in try await service.redeem(tickets) }
            #expect(Set(responses.map(\.tokens.sessionID)).count == 1)
            #expect(try await service.count("sessions") == 1)
            #expect(try await service.count("web_tickets") == 0)
            service.clock.advance(seconds: 59)
            let again = try await service.redeem(tickets, expectedSubject: "001.person")
            #expect(again.tokens.refreshToken == responses[0].tokens.refreshToken)
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") {
                _ = try await service.redeem(tickets, expectedSubject: "002.other")
            }
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await service.redeem(tickets) }
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `Another client can neither redeem nor spend tickets`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finish(service.begin())
            let others = try await service.finish(service.begin(), subject: "002.other")
            let mixed = IdentityV1.FinishWebSignInResponse.with {
                ($0.idTokenTicket, $0.codeTicket) = (tickets.idTokenTicket, others.codeTicket)
            }
            let halves = [
                mixed, .with { $0.idTokenTicket = tickets.idTokenTicket }, .with { $0.codeTicket = tickets.codeTicket },
                .with { ($0.idTokenTicket, $0.codeTicket) = ("vit1_x", tickets.codeTicket) },
            ]
            for half in halves {
                await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await service.redeem(half) }
            }
            for verifier in ["", WebSignInTests.challenge, String(WebSignInTests.verifier.reversed())] {
                await expectFailure(.unauthenticated, "TICKET_INVALID") {
                    _ = try await service.redeem(tickets, verifier: verifier)
                }
            }
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                _ = try await service.redeem(tickets, clientID: "com.example.app")
            }
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                _ = try await service.redeem(tickets, provider: "google")
            }
            let redeemed = try await service.redeem(tickets, clientID: WebSignInTests.client)
            #expect(redeemed.isNewUser)
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                _ = try await service.redeem(tickets, verifier: String(WebSignInTests.verifier.reversed()))
            }
        }
    }

    @Test func `Tickets without challenge take no verifier`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finishWithoutState()
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await service.redeem(tickets) }
            #expect(try await service.redeem(tickets, verifier: "").isNewUser)
        }
    }

    @Test func `Tickets are over after two minutes, and then forgotten`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finish(service.begin())
            service.clock.advance(seconds: 119)
            #expect(try await Self.forget(service) == 0)
            service.clock.advance(seconds: 1)
            await expectFailure(.unauthenticated, "TICKET_INVALID") { _ = try await service.redeem(tickets) }
            #expect(try await Self.forget(service) == 1)
            #expect(try await service.count("accounts") == 0)
        }
    }

    @Test func `A token buys one pair of tickets at a time, and one session`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let token = try service.provider.webToken(at: service.clock)
            let posted = try await gather(24) { _ in try await service.finishWithoutState(token: token) }
            #expect(Set(posted.map(\.idTokenTicket)).count == 24)
            #expect(try await service.count("web_tickets") == 1)
            var sessions: [String] = []
            for tickets in posted {
                do {
                    sessions.append(try await service.redeem(tickets, verifier: "").tokens.sessionID)
                } catch let error as RPCError {
                    #expect(error.reason == "TICKET_INVALID")
                }
            }
            #expect(sessions.count == 1, "the form that came last counts")
            await expectFailure(.unauthenticated, "TOKEN_REPLAYED") {
                _ = try await service.finishWithoutState(token: token)
            }
        }
    }

    @Test func `A token that an app used already buys no second session`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let token = try service.provider.webToken(at: service.clock)
            let tickets = try await service.finishWithoutState(token: token)
            let direct = try await service.signIn(token: token, nonce: "")
            #expect(try await service.redeem(tickets, verifier: "").tokens.sessionID == direct.tokens.sessionID)
            #expect(try await service.count("sessions") == 1)
        }
    }

    @Test func `With create set to false a new person gets no account, and keeps the tickets`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finishWithoutState()
            await expectFailure(.notFound, "ACCOUNT_NOT_FOUND") {
                _ = try await service.client.signIn(
                    .with {
                        ($0.provider, $0.idToken) = ("apple", tickets.idTokenTicket)
                        ($0.authorizationCode, $0.create) = (tickets.codeTicket, false)
                    }
                )
            }
            await expectFailure(.unauthenticated, "TOKEN_SUBJECT") {
                _ = try await service.redeem(tickets, verifier: "", expectedSubject: "002.other")
            }
            #expect(try await service.count("web_tickets") == 1)
            #expect(try await service.redeem(tickets, verifier: "").isNewUser)
        }
    }

    @Test func `Tickets that were taken by nobody we know buy nothing`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finishWithoutState()
            try await service.database.execute("DELETE FROM web_tickets")
            await expectFailure(.unauthenticated, "TICKET_INVALID") {
                _ = try await service.redeem(tickets, verifier: "")
            }
            #expect(try await service.count("sign_ins") == 0)
        }
    }

    @Test func `An e-mail beside the token never replaces a token's`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let userID = try await service.signIn().tokens.userID
            let tickets = try await service.finishWithoutState(
                changes: ["email": nil as JSONValue?],
                email: "ceo@victim.example"
            )
            #expect(try await service.redeem(tickets, verifier: "").tokens.userID == userID)
            let identity = try #require(try await service.account(userID).identities.first)
            #expect(identity.email == "person@privaterelay.appleid.com" && identity.emailVerified)
        }
    }

    @Test func `The code is exchanged if the audience requires it`() async throws {
        try await TestService.run(providers: WebSignInTests.providers(withoutNonce: .code)) { service in
            let token = try service.provider.webToken(at: service.clock)
            let tickets = try await service.finishWithoutState(token: token)
            service.exchange.setError(.providerUnavailable)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") {
                _ = try await service.redeem(tickets, verifier: "")
            }
            service.exchange.setError(nil)
            await expectFailure(.unauthenticated, "CODE_SPENT") {
                _ = try await service.redeem(tickets, verifier: "")
            }
            let fromProvider = try service.provider.webToken(at: service.clock, ["jti": "exchanged"])
            try service.exchange.answer(fromProvider, for: TestProvider.code, service: service)
            let response = try await service.redeem(tickets, verifier: "")
            #expect(response.proof == .code)
            let again = try await service.redeem(tickets, verifier: "")
            #expect(again.tokens.sessionID == response.tokens.sessionID)
            #expect(service.exchange.exchangeCount == 3, "the retry finds its session without it")
        }
    }

    @Test func `Tickets are bounded by address and in all`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let store = service.parts.methods.store
            let grant = try await Self.grant(service)
            func keep(_ address: UInt8?) async throws {
                let tickets = WebTickets(randomBytes: SecureRandom.bytes)
                try await store.keep(
                    tickets,
                    for: WebGrant(
                        fingerprint: SecureRandom.bytes(32),
                        provider: .apple,
                        claims: grant.claims,
                        code: "c",
                        redirectURI: "",
                        fullName: "",
                        email: ""
                    ),
                    boundTo: WebTicketBinding(clientID: WebSignInTests.client, codeChallenge: nil),
                    addressCode: address.map { Array(repeating: $0, count: 32) },
                    nowMilliseconds: service.clock.nowMilliseconds,
                    deadline: nil
                )
            }
            for _ in 0..<WebTickets.perAddressMax { try await keep(1) }
            await #expect(throws: IdentityError.web(.tooManyTickets)) { try await keep(1) }
            try await keep(2)
            try await keep(nil)
            #expect(IdentityError.web(.tooManyTickets).rpcError.code == .resourceExhausted)
            #expect(try await service.count("web_tickets") == WebTickets.perAddressMax + 2)
            _ = try await service.database.execute(
                """
                INSERT INTO web_tickets
                SELECT sha256(number::text::bytea), sha256('c'), sha256(number::text::bytea), 'a', NULL, 'x', NULL,
                    now(), now()
                FROM generate_series(1, \(WebTickets.countMax - WebTickets.perAddressMax - 3)) number
                """
            )
            try await keep(nil)
            await #expect(throws: IdentityError.web(.tooManyTickets)) { try await keep(nil) }
        }
    }

    @Test func `The table holds nothing that can be read`() async throws {
        try await TestService.run(providers: WebSignInTests.providers()) { service in
            let tickets = try await service.finish(service.begin(), fullName: "Ana Cruz", email: "ana@example.com")
            let rows = try await service.database.query(
                "SELECT encode(ticket_hash || code_ticket_hash || content, 'escape') FROM web_tickets"
            )
            let text = try rows[0].decode(0, as: String.self)
            for secret in [
                "Ana", "example.com", TestProvider.code, "001.person", tickets.idTokenTicket, tickets.codeTicket,
            ] {
                #expect(!text.contains(secret))
            }
        }
    }

    private static func forget(_ service: TestService) async throws -> Int {
        try await service.parts.methods.store.forgetWebTickets(
            nowMilliseconds: service.clock.nowMilliseconds,
            limit: 10
        )
    }

    private static func grant(_ service: TestService) async throws -> WebGrant {
        let policy = try #require(service.settings.providers[.apple]?.policy)
        let token = try ProviderToken(parsing: service.provider.webToken(at: service.clock), policy: policy)
        let claims = try token.claims(
            verifiedWith: service.provider.key.verificationKey,
            policy: policy,
            nowSeconds: service.clock.nowSeconds,
            nonce: "",
            code: ""
        )
        return WebGrant(
            fingerprint: token.fingerprint,
            provider: .apple,
            claims: claims,
            code: "c",
            redirectURI: "",
            fullName: "",
            email: ""
        )
    }
}
