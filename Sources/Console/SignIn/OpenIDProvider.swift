import HTTPJSON
import IdentityDomain
import JOSE
import OutgoingHTTP

/// The OpenID provider by which operators sign in: authorization code with PKCE, state and nonce. Its endpoints come from discovery, its
/// issuer from the configuration.
final class OpenIDProvider: Sendable {
    /// What the configuration says.
    struct Settings: Sendable {
        /// What `iss` of its ID tokens says.
        let issuer: String
        /// Where it describes itself (OpenID Connect Discovery 1.0).
        let discoveryURL: String
        let clientID: String
        /// Nil for a public client.
        let clientSecret: String?
        /// Where the provider sends browsers back.
        let redirectURI: String
        /// Whether an ID token needs no `auth_time`, of a provider that gives none although `max_age` asks for it.
        let isAuthTimeOptional: Bool
    }

    /// Who signed in.
    struct SignIn: Sendable, Hashable {
        let subject: ProviderSubject
        let proof: SignInProof
    }

    private let settings: Settings
    private let http: any OutgoingClient
    private let documents: ProviderDocuments

    init(_ settings: Settings, http: any OutgoingClient) {
        self.settings = settings
        self.http = http
        documents = ProviderDocuments(settings, http: http)
    }

    /// The address at the provider to which a browser goes. A person is asked anew, whatever session they have there, if the provider
    /// honours `prompt=login`.
    func address(of attempt: SignInAttempt, now: ConsoleTime) async throws(SignInFailure) -> String {
        let endpoint = try await documents.description(now: now).authorizationEndpoint
        let fields = [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", settings.redirectURI),
            ("scope", "openid"), ("state", attempt.state), ("nonce", attempt.nonce),
            ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"), ("prompt", "login"),
            ("max_age", "0"),
        ]
        let query = fields.map { "\($0.0)=\(FormFields.encode($0.1))" }.joined(separator: "&")
        return endpoint + (endpoint.contains("?") ? "&" : "?") + query
    }

    /// Exchanges a code, and verifies the ID token (OpenID Connect Core section 3.1.3.7).
    func finish(
        code: String,
        _ attempt: SignInAttempt,
        now: ConsoleTime
    ) async throws(SignInFailure) -> SignIn {
        let description = try await documents.description(now: now)
        let text = try await idToken(code, attempt, description)
        let claims = try await claims(text, attempt, description, now)
        let subject = ProviderSubject(issuer: settings.issuer, subject: claims.subject)
        return SignIn(subject: subject, proof: try proof(text, claims.issuedAtSeconds, attempt, now))
    }

    private func claims(
        _ text: String,
        _ attempt: SignInAttempt,
        _ description: ProviderDescription,
        _ now: ConsoleTime
    ) async throws(SignInFailure) -> ProviderClaims {
        let policy = try policy(description)
        do throws(TokenRejection) {
            let token = try ProviderToken(parsing: text, policy: policy)
            guard let key = try? await documents.key(token, description, now: now) else {
                throw TokenRejection.keyUnknown
            }
            return try token.claims(
                verifiedWith: key,
                policy: policy,
                nowSeconds: now.wallSeconds,
                nonce: attempt.nonce,
                code: ""
            )
        } catch {
            throw .rejected("\(error)")
        }
    }

    /// When the person proved who they are, by a token that was verified. `auth_time` must be in it, since `max_age` asks for it (OpenID
    /// Connect Core section 2), unless the configuration says otherwise: then the console's own request counts, and a token that was
    /// issued before it is rejected. Nothing that can't be read, and no time to come, makes an old sign-in fresh.
    private func proof(
        _ verified: String,
        _ issuedAtSeconds: Int64,
        _ attempt: SignInAttempt,
        _ now: ConsoleTime
    ) throws(SignInFailure) -> SignInProof {
        guard let payload = try? CompactJWS(parsing: verified).unverifiedPayload,
            let claims = try? JSONObject(parsing: payload, limits: JSONLimits(bytesMax: 16 * 1024))
        else { throw .rejected("the ID token can't be read") }
        guard let claim = claims["auth_time"] else {
            guard settings.isAuthTimeOptional else { throw .withoutAuthTime }
            guard issuedAtSeconds >= attempt.beganAt.wallSeconds - Self.clockLeewaySeconds else {
                throw .rejected("the ID token was issued before the request")
            }
            return SignInProof(at: attempt.beganAt, basis: .request)
        }
        guard let time = claim.numericDateSeconds, 0...(now.wallSeconds + Self.clockLeewaySeconds) ~= time else {
            throw .rejected("auth_time is no time, or one to come")
        }
        return SignInProof(at: now.earlier(bySeconds: max(0, now.wallSeconds - time)), basis: .authTime)
    }

    private func idToken(
        _ code: String,
        _ attempt: SignInAttempt,
        _ description: ProviderDescription
    ) async throws(SignInFailure) -> String {
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", settings.redirectURI),
            ("client_id", settings.clientID), ("code_verifier", attempt.verifier),
        ].map { (name: $0.0, value: $0.1) }
        if let secret = settings.clientSecret { form.append((name: "client_secret", value: secret)) }
        let request = OutgoingRequest(
            .postForm(form),
            description.tokenEndpoint,
            headers: [("accept", "application/json")],
            timeout: ProviderDocuments.timeout,
            bodyBytesMax: TokenEndpointAnswer.bytesMax
        )
        let response: OutgoingResponse
        do throws(OutgoingHTTPError) {
            response = try await http.send(request)
        } catch {
            throw .unavailable("\(error)")
        }
        switch TokenEndpointAnswer(status: response.status, body: response.body) {
        case .exchanged(let tokens): return tokens.idToken
        case .refused(let word), .notConfigured(let word): throw .rejected("the token endpoint says \(word)")
        case .unavailable: throw .unavailable("the token endpoint answered \(response.status)")
        case .unreadable: throw .rejected("the token endpoint's answer has no ID token")
        }
    }

    private func policy(_ description: ProviderDescription) throws(SignInFailure) -> ProviderPolicy {
        guard let name = ProviderName("console"),
            let policy = try? ProviderPolicy(
                name: name,
                issuers: [settings.issuer],
                audiences: [AudiencePolicy(id: settings.clientID, kind: .web, match: .raw)],
                algorithms: description.algorithms,
                keysURL: description.keysURL,
                tokenAgeSecondsMax: Self.tokenAgeSecondsMax
            )
        else { throw .rejected("the provider's description can't be used") }
        return policy
    }

    /// By how much the provider's clock may differ from ours.
    private static let clockLeewaySeconds: Int64 = 60
    /// A token comes at once.
    private static let tokenAgeSecondsMax: Int64 = 600
}

/// Why nobody signed in by the provider. The words are for the log.
enum SignInFailure: Error, Sendable, Hashable {
    /// The provider can't be asked now.
    case unavailable(String)
    /// What it answered proves nobody.
    case rejected(String)
    /// It doesn't say when the person proved who they are.
    case withoutAuthTime
}
