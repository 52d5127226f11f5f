import HTTPJSON
import IdentityDomain
import JOSE
import OutgoingHTTP
import Synchronization

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
    }

    /// Who signed in.
    struct SignIn: Sendable, Hashable {
        let subject: ProviderSubject
        /// When the person proved who they are, in Unix seconds: `auth_time`, or now where the provider doesn't say.
        let provenAtSeconds: Int64
    }

    /// The sign-ins that may wait for the provider at once; others are refused.
    static let exchangesMax = 8

    private let settings: Settings
    private let http: any OutgoingClient
    private let documents: ProviderDocuments
    private let exchanges = Atomic<Int>(0)

    init(_ settings: Settings, http: any OutgoingClient) {
        self.settings = settings
        self.http = http
        documents = ProviderDocuments(settings, http: http)
    }

    /// The address at the provider to which a browser goes. A person is asked anew, whatever session they have there, if the provider
    /// honours `prompt=login`.
    func address(of attempt: SignInAttempt, nowSeconds: Int64) async throws(SignInFailure) -> String {
        let endpoint = try await documents.description(nowSeconds: nowSeconds).authorizationEndpoint
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
        nowSeconds: Int64
    ) async throws(SignInFailure) -> SignIn {
        guard exchanges.add(1, ordering: .relaxed).newValue <= Self.exchangesMax else {
            exchanges.subtract(1, ordering: .relaxed)
            throw .unavailable("too many sign-ins at once")
        }
        defer { exchanges.subtract(1, ordering: .relaxed) }
        let description = try await documents.description(nowSeconds: nowSeconds)
        let text = try await idToken(code, attempt, description)
        let policy = try policy(description)
        do throws(TokenRejection) {
            let token = try ProviderToken(parsing: text, policy: policy)
            guard let key = try? await documents.key(token, description, nowSeconds: nowSeconds) else {
                throw TokenRejection.keyUnknown
            }
            let claims = try token.claims(
                verifiedWith: key,
                policy: policy,
                nowSeconds: nowSeconds,
                nonce: attempt.nonce,
                code: ""
            )
            let subject = ProviderSubject(issuer: settings.issuer, subject: claims.subject)
            guard let provenAt = Self.provenAt(text, nowSeconds: nowSeconds) else { throw TokenRejection.malformed }
            return SignIn(subject: subject, provenAtSeconds: provenAt)
        } catch {
            throw .rejected("\(error)")
        }
    }

    /// `auth_time` of a token that was verified; now where it has none. Nil for one that is no time, or a time to come: nothing that
    /// can't be read makes an old sign-in fresh.
    static func provenAt(_ verified: String, nowSeconds: Int64) -> Int64? {
        guard let payload = try? CompactJWS(parsing: verified).unverifiedPayload,
            let claims = try? JSONObject(parsing: payload, limits: JSONLimits(bytesMax: 16 * 1024))
        else { return nil }
        guard let claim = claims["auth_time"] else { return nowSeconds }
        guard let time = claim.numericDateSeconds, 0...(nowSeconds + clockLeewaySeconds) ~= time else { return nil }
        return min(time, nowSeconds)
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

    /// By how much the provider's clock may be ahead.
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
}
