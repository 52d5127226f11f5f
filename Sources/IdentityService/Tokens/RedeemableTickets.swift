import API
import IdentityDomain
import Models
import RPC

extension IdentityMethods {
    /// Looks up what the tickets of a request stand for, and the hash by which the statement that opens the session takes them.
    ///
    /// Nothing is used up by that: a wrong verifier, a provider that is down or an answer that is lost leaves the tickets to
    /// their owner, and nobody guesses two times 32 random bytes in two minutes.
    ///
    /// - Returns: nil for tickets that are unknown, expired or redeemed, and for tickets of another provider or audience, or without
    ///   their verifier.
    func redeemable(
        _ request: IdentityV1.SignInRequest,
        policy: ProviderPolicy,
        deadline: Deadline?
    ) async throws -> (grant: WebGrant, ticketHash: [UInt8])? {
        let tickets = WebTickets(idToken: request.idToken, code: request.authorizationCode)
        guard let tickets,
            let kept = try await store.kept(tickets, nowMilliseconds: clock.nowMilliseconds, deadline: deadline),
            kept.binding.admits(clientID: request.clientID, codeVerifier: request.codeVerifier),
            let grant = tickets.open(kept.sealed, boundTo: kept.binding, policy: policy)
        else { return nil }
        return (grant, tickets.idTokenHash)
    }
}
