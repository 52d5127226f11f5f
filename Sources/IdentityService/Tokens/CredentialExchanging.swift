import IdentityDomain
import RPC

/// Exchanges authorization codes of one provider's people (RFC 6749 section 4.1.3), or whatever a test says.
protocol CodeExchanging: Sendable {
    /// Exchanges a code, or tells again what came of it a moment ago.
    ///
    /// - Parameter address: a code of the address that it comes from; nil if that isn't known.
    /// - Throws: `IdentityError`: the code is spent or foreign, the provider can't be reached or isn't configured for it.
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
    /// - Throws: `IdentityError`: it was issued to another app, is refused, or the provider can't be reached.
    func claims(
        accessToken: String,
        clientID: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode
}
