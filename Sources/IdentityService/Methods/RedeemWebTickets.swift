import IdentityDomain
import Models
import RPC

/// What tickets in the places of an ID token and a code stand for.
struct RedeemedTickets: Sendable, Hashable {
    /// What the provider posted; nil if the tickets are unknown, over or taken, or not for whoever presents them.
    let grant: WebGrant?
    /// Names the row that the statement which opens the session deletes: whoever deletes it has taken them.
    let ticketHash: [UInt8]
    /// By what a retry of their redemption finds its session.
    let retryFingerprint: [UInt8]
}

extension IdentityMethods {
    /// Looks up what tickets stand for. That alone doesn't take them: a wrong verifier, a provider that is down or an answer
    /// that is lost leaves them to their owner, and nobody guesses 32 random bytes in two minutes.
    ///
    /// - Parameters:
    ///   - clientID: the audience that the app names; empty if it names none.
    ///   - codeVerifier: the PKCE verifier; empty if there is none.
    /// - Returns: nil for texts that can be no tickets.
    func redeem(
        idTokenTicket: String,
        codeTicket: String,
        clientID: String,
        codeVerifier: String,
        policy: ProviderPolicy,
        deadline: Deadline?
    ) async throws -> RedeemedTickets? {
        guard let tickets = WebTickets(idToken: idTokenTicket, code: codeTicket),
            codeVerifier.utf8.count <= ProviderToken.proofBytesMax
        else { return nil }
        var grant: WebGrant?
        if let kept = try await store.kept(tickets, nowMilliseconds: clock.nowMilliseconds, deadline: deadline),
            kept.binding.admits(clientID: clientID, codeVerifier: codeVerifier)
        {
            grant = tickets.open(kept.sealed, boundTo: kept.binding, policy: policy)
        }
        return RedeemedTickets(
            grant: grant,
            ticketHash: tickets.idTokenHash,
            retryFingerprint: tickets.retryFingerprint(codeVerifier: codeVerifier)
        )
    }
}
