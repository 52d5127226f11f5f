import IdentityDomain
import RPC

/// Exchanges authorization codes of one provider's people (RFC 6749 section 4.1.3), or whatever a test says.
protocol CodeExchanging: Sendable {
    /// Exchanges a code, or tells again what came of it a moment ago.
    ///
    /// - Parameter address: a code of the address that it comes from; nil if that isn't known.
    /// - Throws: `IdentityFault`: the code is spent or foreign, the provider can't be reached or isn't configured for it.
    func claims(
        code: String,
        clientID: String,
        redirectURI: String,
        codeVerifier: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode
}

/// Asks one provider whose an access token is, or whatever a test says.
protocol AccessTokenChecking: Sendable {
    /// Whose it is.
    ///
    /// - Parameter address: a code of the address that it comes from; nil if that isn't known.
    /// - Throws: `IdentityFault`: it was issued to another app, is refused, or the provider can't be reached.
    func claims(
        accessToken: String,
        clientID: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode
}

/// What the tickets of a sign-in in a browser stand for. They are still there: who uses them up is the statement that opens
/// the session.
struct RedeemableTickets: Sendable {
    /// The key of the tickets' row.
    let ticketHash: [UInt8]
    /// The fingerprint of the ID token.
    let fingerprint: [UInt8]
    /// What it says, judged with our nonce if there was one.
    let claims: ProviderClaims
    /// The authorization code; empty if there was none.
    let code: String
    /// The redirect URI that the code was issued to.
    let redirectURI: String
    /// The name that the provider told the browser; empty if none.
    let fullName: String
    /// The e-mail that the provider told beside the token; empty if none.
    let email: String
}

/// Looks tickets up, or whatever a test says.
protocol TicketRedeeming: Sendable {
    /// What tickets stand for; nil if they are not there: unknown, taken or over.
    ///
    /// - Throws: `IdentityFault` if the code's ticket is of another sign-in, or the verifier is missing or wrong.
    func redeemable(
        idTokenTicket: String,
        codeTicket: String,
        codeVerifier: String,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> RedeemableTickets?
}

/// Where nobody makes tickets.
struct NoTickets: TicketRedeeming {
    func redeemable(
        idTokenTicket: String,
        codeTicket: String,
        codeVerifier: String,
        nowMilliseconds: Int64,
        deadline: Deadline?
    ) async throws -> RedeemableTickets? { nil }
}
