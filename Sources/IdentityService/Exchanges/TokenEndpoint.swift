import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import ServiceKit

/// A provider's token endpoint, called for one grant at a time (RFC 6749 sections 3.2 and 4.1.3).
struct TokenEndpoint: Sendable {
    /// How long the provider may take to respond.
    static let timeout: Duration = .seconds(3)

    /// The outcome of a request.
    enum Outcome: Sendable, Hashable {
        /// The provider answered.
        case answered(TokenEndpointAnswer)
        /// It didn't answer, or not completely.
        case unanswered(OutgoingHTTPError)
    }

    private let url: String
    private let proof: ClientProof
    private let http: any OutgoingClient

    /// The endpoint of a provider; nil if it has none.
    init?(_ configuration: ProviderConfiguration, http: any OutgoingClient, clock: WallClock) {
        guard let url = configuration.endpoints.tokenURL else { return nil }
        self.url = url
        proof = ClientProof(configuration, clock: clock)
        self.http = http
    }

    /// Exchanges a grant. The code may be spent after any outcome except an error that says that nothing was sent.
    func exchange(_ grant: CodeGrant) async -> Outcome {
        guard let proof = proof.fields(grant.clientID) ?? (isPublic(grant) ? [] : nil) else {
            return .answered(.notConfigured(error: "no client secret"))
        }
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

    /// Returns whether a grant can be exchanged at all.
    func canExchange(_ grant: CodeGrant) -> Bool {
        proof.isThere(grant.clientID) || isPublic(grant)
    }

    /// Returns whether only the verifier proves that the code is the client's own (RFC 7636). Apple has no public clients.
    private func isPublic(_ grant: CodeGrant) -> Bool {
        !proof.isThere(grant.clientID) && !grant.codeVerifier.isEmpty && grant.provider != .apple
    }
}
