import IdentityDomain
import JOSE
import Postgres
import RPC
import Synchronization

@testable import IdentityService

/// A provider's token endpoint and its answers about access tokens, and tickets of sign-ins in a browser, as a test says
/// what they are.
final class TestExchange: CodeExchanging, AccessTokenChecking, TicketRedeeming {
    private struct State {
        var answers: [String: ExchangedCode] = [:]
        var tickets: [String: (RedeemableTickets, verifier: String)] = [:]
        var fault: IdentityFault?
        var exchangeCount = 0
    }

    private let state = Mutex(State())

    /// How often a code was to be exchanged.
    var exchangeCount: Int { state.withLock { $0.exchangeCount } }

    /// The provider answers this token for a code or an access token.
    func answer(_ token: String, for text: String, service: TestService, provider: ProviderName = .apple) throws {
        let answer = try Self.judged(token, nonce: nil, service: service, provider: provider)
        state.withLock { $0.answers[text] = answer }
    }

    /// The provider fails, or works again.
    func setFault(_ fault: IdentityFault?) {
        state.withLock { $0.fault = fault }
    }

    /// Makes a ticket that stands for an ID token, as a browser brought it.
    func makeTicket(
        _ ticket: String,
        token: String,
        nonce: String = "",
        code: String = "",
        verifier: String = "",
        fullName: String = "",
        email: String = "",
        service: TestService
    ) async throws {
        let judged = try Self.judged(token, nonce: nonce, service: service, provider: .apple)
        let hash = SHA256.hash(ticket)
        let tickets = RedeemableTickets(
            ticketHash: hash,
            fingerprint: judged.fingerprint,
            claims: judged.claims,
            code: code,
            redirectURI: "https://id.example.com/auth/apple/callback",
            fullName: fullName,
            email: email
        )
        state.withLock { $0.tickets[ticket] = (tickets, verifier) }
        _ = try await service.database.execute(
            """
            INSERT INTO web_tickets (ticket_hash, code_ticket_hash, client_id, content, created_at, expires_at)
            VALUES (\(hash), \(hash), 'com.example.bare', \(hash), now(), now() + interval '2 minutes')
            """
        )
    }

    private static func judged(
        _ text: String,
        nonce: String?,
        service: TestService,
        provider: ProviderName
    ) throws -> ExchangedCode {
        guard let policy = service.settings.providers[provider]?.policy else { throw IdentityFault.providerUnknown }
        let token = try ProviderToken(parsing: text, policy: policy)
        let claims = try token.claims(
            verifiedWith: service.provider.key.verificationKey,
            policy: policy,
            nowSeconds: service.clock.nowSeconds,
            nonce: nonce,
            code: ""
        )
        return ExchangedCode(fingerprint: token.fingerprint, claims: claims)
    }

    private func answer(_ text: String) throws -> ExchangedCode {
        try state.withLock { state in
            state.exchangeCount += 1
            if let fault = state.fault { throw fault }
            guard let answer = state.answers[text] else { throw IdentityFault.signIn(.codeSpent) }
            return answer
        }
    }

    func claims(
        code: String,
        clientID: String,
        redirectURI: String,
        codeVerifier: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode { try answer(code) }

    func claims(
        accessToken: String,
        clientID: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode { try answer(accessToken) }

    /// Tells of a ticket for as long as the test lets it, so that only the statement that takes it decides.
    func redeemable(
        idTokenTicket: String,
        codeTicket: String,
        codeVerifier: String,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> RedeemableTickets? {
        guard let (tickets, verifier) = state.withLock({ $0.tickets[idTokenTicket] }) else { return nil }
        guard verifier == codeVerifier else { throw IdentityFault.signIn(.ticketInvalid) }
        return tickets
    }

    /// From now on the ticket is not found.
    func forgetTicket(_ ticket: String) {
        state.withLock { $0.tickets[ticket] = nil }
    }
}
