import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import RPC
import ServiceKit

/// Asks one provider which user an access token belongs to and for which of our client ids it was issued, for apps that send access
/// tokens.
///
/// An access token isn't made for one sign-in. The SDKs keep it, Facebook's for weeks, and return it again at each start of the
/// app: a sign-in with it again within its lifetime must succeed. So a token yields the same session again only while that is a
/// retry (within a minute, and the session is unused); later it opens another session, each time after asking the provider again. A
/// thief with a stolen token gets in as well: that is what `Proof.accessToken` says, and why such a session neither links nor
/// deletes accounts.
///
/// The sign-in relies on the provider's answer, not on the token, so the answer's time is the sign-in's: `issuedAtSeconds` is when
/// the provider answered, which is after any end of all sessions, and `acceptedUntilSeconds` is the end of the retry.
struct AccessTokenCheck: AccessTokenChecking {
    /// How long the provider may take for both answers.
    static let timeout: Duration = .seconds(3)
    /// How long before its deadline a caller gets the error that there is no answer, so that the error arrives in time.
    static let answerMargin: Duration = .milliseconds(100)

    private enum Questions {
        /// The URLs of `debug_token` and `/me`.
        case facebook(debugTokenURL: String, userInfoURL: String)
        /// The URLs of `tokeninfo` and `userinfo`.
        case google(tokenInfoURL: String, userInfoURL: String)
    }

    private let policy: ProviderPolicy
    private let credentials: [String: ClientCredential]
    private let questions: Questions
    private let http: any OutgoingClient
    private let store: IdentityStore
    private let gate: ProviderGate
    private let log: QuestionLog
    private let clock: WallClock

    /// A check with a provider's endpoints; nil if the provider's access tokens can't sign in, or it lacks the endpoints for it.
    init?(
        _ configuration: ProviderConfiguration,
        http: any OutgoingClient,
        store: IdentityStore,
        log: QuestionLog,
        clock: WallClock
    ) {
        let endpoints = configuration.endpoints
        switch (configuration.accessTokens, endpoints.debugTokenURL, endpoints.tokenInfoURL, endpoints.userInfoURL) {
        case (.facebook, let debugTokenURL?, _, let userInfoURL?):
            questions = .facebook(debugTokenURL: debugTokenURL, userInfoURL: userInfoURL)
        case (.google, _, let tokenInfoURL?, let userInfoURL?):
            questions = .google(tokenInfoURL: tokenInfoURL, userInfoURL: userInfoURL)
        default:
            return nil
        }
        policy = configuration.policy
        credentials = configuration.credentials
        self.http = http
        self.store = store
        self.log = log
        self.clock = clock
        gate = ProviderGate(clock: clock)
    }

    func claims(
        accessToken: String,
        clientID: String,
        address: [UInt8]?,
        deadline: Deadline?
    ) async throws -> ExchangedCode {
        guard let audience = policy.audiences[clientID] else { throw IdentityError.signIn(.clientUnknown) }
        guard AccessToken.isPlausible(accessToken) else { throw IdentityError.exchange(.accessTokenInvalid) }
        let pass: ProviderGate.Pass
        do {
            pass = try gate.pass(client: clientID, address: address)
        } catch {
            log.tell(.shed, client: clientID)
            throw error
        }
        let outcome = await person(of: accessToken, audience, deadline: end(before: deadline))
        var wasRefused = false
        if case .failure(.refused(let refusal)) = outcome { wasRefused = refusal == .invalid || refusal == .foreign }
        pass.end(wasRefused: wasRefused)
        try Task.checkCancellation()
        let claims = try tell(outcome, client: clientID)
        let fingerprint = AccessToken.fingerprint(accessToken, of: policy.name)
        try await store.forgetUse(of: fingerprint, nowMilliseconds: clock.nowMilliseconds, deadline: deadline)
        return ExchangedCode(fingerprint: fingerprint, claims: claims)
    }

    private enum Failure: Error {
        case refused(AccessTokenRefusal)
        case unanswered(OutgoingHTTPError)
    }

    private func end(before deadline: Deadline?) -> Deadline {
        let own = Deadline.after(Self.timeout)
        guard let deadline, deadline != .never else { return own }
        return min(own, .after(deadline.remaining - Self.answerMargin))
    }

    /// Counts and logs the outcome of the requests, and returns or throws the caller's result.
    private func tell(_ outcome: Result<ProviderClaims, Failure>, client: String) throws(IdentityError)
        -> ProviderClaims
    {
        switch outcome {
        case .success(let claims):
            log.tell(.told, client: client)
            return claims
        case .failure(.unanswered(let error)):
            log.tell(ExchangeMetrics.Outcome(error), client: client, cause: error.description)
            throw .providerUnavailable
        case .failure(.refused(.invalid)):
            log.tell(.refused, client: client)
            throw .exchange(.accessTokenInvalid)
        case .failure(.refused(.foreign)):
            log.tell(.foreign, client: client)
            throw .exchange(.accessTokenForeign)
        case .failure(.refused(.notConfigured(let error))):
            log.tell(.notConfigured, client: client, cause: error)
            throw .signIn(.exchangeNotConfigured)
        case .failure(.refused(.unavailable)):
            log.tell(.unavailable, client: client)
            throw .providerUnavailable
        case .failure(.refused(.unreadable)):
            log.tell(.unreadable, client: client)
            throw .providerUnavailable
        }
    }

    private func person(
        of token: String,
        _ audience: AudiencePolicy,
        deadline: Deadline
    ) async -> Result<ProviderClaims, Failure> {
        do {
            switch questions {
            case .facebook(let debugTokenURL, let userInfoURL):
                return .success(try await facebook(token, audience, debugTokenURL, userInfoURL, deadline))
            case .google(let tokenInfoURL, let userInfoURL):
                return .success(try await google(token, audience, tokenInfoURL, userInfoURL, deadline))
            }
        } catch let refusal as AccessTokenRefusal {
            return .failure(.refused(refusal))
        } catch let error as OutgoingHTTPError {
            return .failure(.unanswered(error))
        } catch {
            return .failure(.unanswered(OutgoingHTTPError(.cancelled, mayHaveBeenSent: true)))
        }
    }

    /// The app proves itself with its id and secret, and `/me` with the token's HMAC under the secret ("Secure Graph API Calls"),
    /// which Facebook can be configured to require in each call.
    private func facebook(
        _ token: String,
        _ audience: AudiencePolicy,
        _ debugTokenURL: String,
        _ userInfoURL: String,
        _ deadline: Deadline
    ) async throws -> ProviderClaims {
        guard case .secret(let secret) = credentials[audience.id] else {
            throw AccessTokenRefusal.notConfigured(error: "no app secret")
        }
        let app = try await get(
            debugTokenURL,
            query: [("input_token", token), ("access_token", "\(audience.id)|\(secret.text)")],
            deadline: deadline
        )
        let userID = try FacebookAnswers.userID(
            status: app.status,
            body: app.body,
            appID: audience.id,
            nowSeconds: clock.nowSeconds
        )
        let proof = Hex.encode(SHA256.authenticationCode(of: Array(token.utf8), key: secret.bytes))
        let person = try await get(
            userInfoURL,
            query: [("fields", "id,name,email"), ("access_token", token), ("appsecret_proof", proof)],
            deadline: deadline
        )
        return try FacebookAnswers.person(
            status: person.status,
            body: person.body,
            userID: userID,
            audience: audience,
            nowSeconds: clock.nowSeconds
        )
    }

    private func google(
        _ token: String,
        _ audience: AudiencePolicy,
        _ tokenInfoURL: String,
        _ userInfoURL: String,
        _ deadline: Deadline
    ) async throws -> ProviderClaims {
        let info = try await get(tokenInfoURL, query: [("access_token", token)], deadline: deadline)
        let subject = try GoogleAnswers.subject(status: info.status, body: info.body, clientID: audience.id)
        // In a header, where no proxy logs it (RFC 6750 section 2.1).
        let person = try await get(userInfoURL, authorization: "Bearer \(token)", deadline: deadline)
        return try GoogleAnswers.person(
            status: person.status,
            body: person.body,
            subject: subject,
            audience: audience,
            nowSeconds: clock.nowSeconds
        )
    }

    private func get(
        _ url: String,
        query: [OutgoingRequest.Field] = [],
        authorization: String? = nil,
        deadline: Deadline
    ) async throws(OutgoingHTTPError) -> OutgoingResponse {
        let left = deadline.remaining
        guard left > .zero else { throw OutgoingHTTPError(.timeout, mayHaveBeenSent: false) }
        let request = OutgoingRequest(
            .get(query: query),
            url,
            headers: [("accept", "application/json")] + (authorization.map { [("authorization", $0)] } ?? []),
            timeout: left,
            bodyBytesMax: AccessToken.answerBytesMax
        )
        return try await http.send(request)
    }
}
