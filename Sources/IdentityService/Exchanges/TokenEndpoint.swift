import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import ServiceKit

/// A provider's token endpoint, asked for one grant at a time (RFC 6749 sections 3.2 and 4.1.3).
struct TokenEndpoint: Sendable {
    /// How long the provider may take.
    static let timeout: Duration = .seconds(3)

    /// What came of asking.
    enum Outcome: Sendable, Hashable {
        /// The provider answered.
        case answered(TokenEndpointAnswer)
        /// It did not, or not to the end.
        case unanswered(OutgoingHTTPError)
    }

    private let url: String
    private let provider: ProviderName
    private let credentials: [String: ClientCredential]
    private let http: any OutgoingClient
    private let clock: WallClock

    /// The endpoint of a provider; nil if it has none.
    init?(_ configuration: ProviderConfiguration, http: any OutgoingClient, clock: WallClock) {
        guard let url = configuration.endpoints.tokenURL else { return nil }
        self.url = url
        provider = configuration.policy.name
        credentials = configuration.credentials
        self.http = http
        self.clock = clock
    }

    /// Exchanges a grant. The code may be spent by it, whatever comes of it but an error that says that nothing was sent.
    func exchange(_ grant: CodeGrant) async -> Outcome {
        guard let proof = proof(of: grant) else { return .answered(.notConfigured(error: "no client secret")) }
        let request = OutgoingRequest(
            .postForm(grant.form + proof),
            url,
            headers: [("accept", "application/json")],
            timeout: Self.timeout,
            bodyBytesMax: TokenEndpointAnswer.bytesMax
        )
        do {
            let response = try await http.send(request)
            return .answered(TokenEndpointAnswer(status: response.status, body: response.body))
        } catch {
            return .unanswered(error)
        }
    }

    /// Whether grants for this client can be exchanged at all.
    func canExchange(_ grant: CodeGrant) -> Bool {
        credentials[grant.clientID] != nil || isPublic(grant)
    }

    /// By what we prove that the client is ours, in the form (`client_secret_post`, the only way that Apple takes). Nothing for
    /// a public client, whose verifier proves that the code is its own (RFC 7636). Nil if there is no way.
    private func proof(of grant: CodeGrant) -> [OutgoingRequest.Field]? {
        switch credentials[grant.clientID] {
        case .secret(let secret):
            return [("client_secret", secret.text)]
        case .apple(let teamID, let keyID, let key):
            let secret = try? AppleClientSecret.mint(
                clientID: grant.clientID,
                teamID: teamID,
                keyID: keyID,
                key: key,
                nowSeconds: clock.nowSeconds
            )
            return secret.map { [("client_secret", $0)] }
        case nil:
            return isPublic(grant) ? [] : nil
        }
    }

    /// Apple has no public clients.
    private func isPublic(_ grant: CodeGrant) -> Bool {
        !grant.codeVerifier.isEmpty && provider != .apple
    }
}
