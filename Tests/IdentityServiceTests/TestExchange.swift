import IdentityDomain
import JOSE
import Postgres
import RPC
import Synchronization

@testable import IdentityService

/// A provider's token endpoint and its answers about access tokens, as a test says what they are.
final class TestExchange: CodeExchanging, AccessTokenChecking {
    private struct State {
        var answers: [String: ExchangedCode] = [:]
        var fault: IdentityError?
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
    func setError(_ fault: IdentityError?) {
        state.withLock { $0.fault = fault }
    }

    private static func judged(
        _ text: String,
        nonce: String?,
        service: TestService,
        provider: ProviderName
    ) throws -> ExchangedCode {
        guard let policy = service.settings.providers[provider]?.policy else { throw IdentityError.providerUnknown }
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
            guard let answer = state.answers[text] else { throw IdentityError.signIn(.codeSpent) }
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
}
