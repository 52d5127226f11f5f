import IdentityDomain
import JOSE
import Models
import RPC

/// Exchanges authorization codes of one provider for its claims about the user (RFC 6749 section 4.1.3).
///
/// The returned ID token is verified like any other, except for the nonce: the provider issued it to us for the code, which proves
/// what a nonce would.
struct CodeExchange: CodeExchanging {
    private let policy: ProviderPolicy
    private let endpoint: TokenEndpoint
    private let queue: CodeExchangeQueue
    private let keys: ProviderKeys
    private let clock: WallClock

    /// An exchange that uses a queue, whose ``CodeExchangeQueue/run()`` must be running.
    init(
        policy: ProviderPolicy,
        endpoint: TokenEndpoint,
        queue: CodeExchangeQueue,
        keys: ProviderKeys,
        clock: WallClock
    ) {
        self.policy = policy
        self.endpoint = endpoint
        self.queue = queue
        self.keys = keys
        self.clock = clock
    }

    func claims(
        code: String,
        clientID: String,
        redirectURI: String,
        codeVerifier: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode {
        guard policy.audiences[clientID] != nil else { throw IdentityError.signIn(.clientUnknown) }
        let grant = CodeGrant(
            provider: policy.name,
            clientID: clientID,
            code: code,
            redirectURI: redirectURI,
            codeVerifier: codeVerifier
        )
        guard let grant else { throw IdentityError.signIn(.codeSpent) }
        guard endpoint.canExchange(grant) else { throw IdentityError.signIn(.exchangeNotConfigured) }
        let tokens = try await queue.tokens(for: grant, address: address, deadline: deadline)
        // Verified each time, with the current keys and clock: if the keys are unavailable at the moment, the token is still there
        // for the next try.
        var exchanged = try await judge(tokens.idToken)
        exchanged.refreshToken = tokens.refreshToken
        guard exchanged.claims.audience == clientID else { throw IdentityError.signIn(.codeForeign) }
        return exchanged
    }

    private func judge(_ idToken: String) async throws -> ExchangedCode {
        do {
            let token = try ProviderToken(parsing: idToken, policy: policy)
            let key = try await keys.key(id: token.keyID, algorithm: token.algorithm, of: policy.name)
            let claims = try token.claims(
                verifiedWith: key,
                policy: policy,
                nowSeconds: clock.nowSeconds,
                nonce: nil,
                code: ""
            )
            return ExchangedCode(fingerprint: token.fingerprint, claims: claims)
        } catch let rejection as TokenRejection {
            throw IdentityError.token(rejection)
        }
    }
}
