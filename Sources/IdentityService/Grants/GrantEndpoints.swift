import IdentityDomain
import Models
import OutgoingHTTP

/// A provider's endpoints, for the tokens that we keep.
struct GrantEndpoints: Sendable {
    /// How long the provider may take to respond.
    static let timeout: Duration = .seconds(3)

    private let tokenURL: String?
    private let revocationURL: String?
    private let proof: ClientProof
    private let hasPublicClients: Bool
    private let http: any OutgoingClient

    /// The endpoints of a provider.
    init(_ configuration: ProviderConfiguration, http: any OutgoingClient, clock: WallClock) {
        tokenURL = configuration.endpoints.tokenURL
        revocationURL = configuration.endpoints.revocationURL
        proof = ClientProof(configuration, clock: clock)
        hasPublicClients = configuration.policy.name != .apple
        self.http = http
    }

    /// Whether the provider has a revocation endpoint.
    var canRevoke: Bool { revocationURL != nil }

    /// Checks whether a refresh token is still valid (RFC 6749 section 6). The access token in the response is ignored.
    ///
    /// - Returns: the answer, and a word or two on why it is none that is good; nothing of the token.
    func check(_ refreshToken: String, clientID: String) async -> (answer: GrantCheckAnswer, cause: String) {
        guard let tokenURL, let fields = fields(clientID) else {
            return (.notConfigured(error: "no client secret"), "no client secret")
        }
        let form: [OutgoingRequest.Field] = [("grant_type", "refresh_token"), ("refresh_token", refreshToken)]
        switch await send(form + fields, to: tokenURL) {
        case .success(let response):
            let answer = GrantCheckAnswer(status: response.status, body: response.body)
            return (answer, "status \(response.status)")
        case .failure(let error):
            if case .url = error.cause { return (.notConfigured(error: "url"), error.description) }
            return (.unavailable, error.description)
        }
    }

    /// Revokes a refresh token (RFC 7009 section 2.1).
    ///
    /// - Returns: the answer, and a word or two on why it is none that is good; nothing of the token.
    func revoke(_ refreshToken: String, clientID: String) async -> (answer: RevocationAnswer, cause: String) {
        guard let revocationURL, let fields = fields(clientID) else {
            return (.notConfigured(error: "no client secret"), "no client secret")
        }
        let form: [OutgoingRequest.Field] = [("token", refreshToken), ("token_type_hint", "refresh_token")]
        switch await send(form + fields, to: revocationURL) {
        case .success(let response):
            let answer = RevocationAnswer(status: response.status, body: response.body)
            if case .notConfigured(let error) = answer { return (answer, error) }
            return (answer, "status \(response.status)")
        case .failure(let error):
            if case .url = error.cause { return (.notConfigured(error: "url"), error.description) }
            return (.unavailable, error.description)
        }
    }

    private func fields(_ clientID: String) -> [OutgoingRequest.Field]? {
        (proof.fields(clientID) ?? (hasPublicClients ? [] : nil)).map { [("client_id", clientID)] + $0 }
    }

    private func send(
        _ form: [OutgoingRequest.Field],
        to url: String
    ) async -> Result<OutgoingResponse, OutgoingHTTPError> {
        let request = OutgoingRequest(
            .postForm(form),
            url,
            headers: [("accept", "application/json")],
            timeout: Self.timeout,
            bodyBytesMax: TokenEndpointAnswer.bytesMax
        )
        do throws(OutgoingHTTPError) {
            return .success(try await http.send(request))
        } catch {
            return .failure(error)
        }
    }
}
