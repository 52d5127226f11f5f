import IdentityDomain
import Models
import OutgoingHTTP

/// A provider's endpoints, asked about tokens that we keep.
struct GrantEndpoints: Sendable {
    /// How long the provider may take.
    static let timeout: Duration = .seconds(3)

    private let tokenURL: String?
    private let revocationURL: String?
    private let proof: ClientProof
    private let hasPublicClients: Bool
    private let http: any OutgoingClient

    /// A provider's.
    init(_ configuration: ProviderConfiguration, http: any OutgoingClient, clock: WallClock) {
        tokenURL = configuration.endpoints.tokenURL
        revocationURL = configuration.endpoints.revocationURL
        proof = ClientProof(configuration, clock: clock)
        hasPublicClients = configuration.policy.name != .apple
        self.http = http
    }

    /// Whether the provider has an endpoint at which tokens are revoked.
    var canRevoke: Bool { revocationURL != nil }

    /// Asks whether a refresh token is good still (RFC 6749 section 6). The access token that it gives is not looked at.
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
