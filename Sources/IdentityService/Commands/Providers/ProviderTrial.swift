import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import RPCTransport
import ServiceKit

/// Tries what is configured of a provider against the provider itself: that its keys can be fetched, and that it takes the credentials of
/// each app.
///
/// Credentials are tried by exchanging an authorization code that nobody issued. RFC 6749 section 5.2 has `invalid_client` for wrong
/// credentials and `invalid_grant` for the code alone, and so has Apple ("ErrorResponse" of its REST API). But nothing says which of the
/// two a provider checks first. So the same request is sent once more with credentials that are wrong for certain: only if the answer is
/// another one, the first has shown anything.
struct ProviderTrial {
    /// What a request showed.
    struct Finding: Sendable, Hashable {
        /// Whether something is wrong, or couldn't be tried.
        let isFault: Bool
        /// The finding in a sentence.
        let text: String
    }

    private static let wrongSecretByteCount = 16

    let provider: ProviderConfiguration
    let http: any OutgoingClient
    let clock: WallClock
    /// Where this provider would send a browser back to.
    let redirectURI: String

    /// What the provider answered, the keys first.
    func run() async -> [Finding] {
        var findings = [await keys()]
        for client in provider.credentials.keys.sorted() {
            findings.append(await credential(of: client))
        }
        return findings
    }

    /// What keeps sign-ins with the configured providers from being verified: each provider's keys are fetched, with the time limit of a
    /// sign-in. A provider that can't be read is a fault of the settings, which is reported with them.
    static func findings(_ configuration: Configuration) async -> [ServiceKit.Finding] {
        let providers = ProviderSettings(configuration).providers
        guard !providers.isEmpty else { return [] }
        let found: [(String, Finding)]? = try? await withEventLoopGroup(loopCount: 1, name: "doctor") { group in
            let http = HTTPSClient(
                userAgent: "vestibule-identity",
                group: group,
                trust: .system(),
                proxies: IdentityKeys.proxies(configuration)
            )
            return await withTaskGroup(of: (String, Finding).self) { tasks in
                for provider in providers {
                    let trial = ProviderTrial(provider: provider, http: http, clock: .system, redirectURI: "")
                    tasks.addTask { (trial.name, await trial.keys()) }
                }
                return await tasks.reduce(into: []) { $0.append($1) }
            }
        }
        let key = IdentityKeys.providersFile.name
        return (found ?? []).sorted { $0.0 < $1.0 }.filter(\.1.isFault).map { _, finding in
            ServiceKit.Finding(
                .failure,
                configuration.isGiven(key) ? key : IdentityKeys.providers.name,
                "has a provider whose tokens can't be verified: \(finding.text)",
                mend: "let identity reach it, by a proxy (HTTPS_PROXY) if need be"
            )
        }
    }

    private var name: String { provider.policy.name.value }

    private func keys() async -> Finding {
        let url = provider.policy.keysURL
        do {
            let entries = try await HTTPKeyFetcher(http).fetchKeys(from: url).keySet.entries
            let usable = entries.count { $0.algorithm.map(provider.policy.algorithms.contains) ?? true }
            return usable > 0
                ? Finding(
                    isFault: false,
                    text: "\(name): its key set at \(url) was fetched; keys that sign ID tokens: \(usable)"
                )
                : Finding(isFault: true, text: "\(name): its key set at \(url) has no key of the configured algorithms")
        } catch let error as OutgoingHTTPError {
            return Finding(isFault: true, text: "\(name): its key set at \(url) can't be fetched: \(error)")
        } catch KeyFetchError.status(let status) {
            return Finding(isFault: true, text: "\(name): its key set at \(url) was answered with status \(status)")
        } catch {
            return Finding(isFault: true, text: "\(name): \(url) holds no key set")
        }
    }

    /// An answer to a credential: whether it was taken, as far as the answer says.
    private enum Answer {
        /// The answer is about the code or token, in this word.
        case taken(String)
        /// The answer is that the credential is wrong, in this word.
        case refused(String)
        /// There was no answer to it.
        case none(String)

        /// Whether the credential may be right.
        var isTaken: Bool { if case .taken = self { true } else { false } }
        /// The provider's word.
        var word: String {
            switch self {
            case .taken(let word), .refused(let word), .none(let word): word
            }
        }
    }

    private func credential(of client: String) async -> Finding {
        let asked = provider.endpoints.debugTokenURL != nil && provider.accessTokens == .facebook
        let answer = asked ? await debugToken(client, provider) : await exchange(client, provider)
        switch answer {
        case .none(let cause):
            return Finding(isFault: true, text: "\(name): the credentials of \(client) couldn't be tried: \(cause)")
        case .refused(let word):
            return Finding(
                isFault: true,
                text: "\(name): the credentials of \(client) are wrong: its answer to them is \(word)"
            )
        case .taken(let word):
            let control = withWrongCredential(client)
            let other = asked ? await debugToken(client, control) : await exchange(client, control)
            if case .refused(let otherWord) = other {
                return Finding(
                    isFault: false,
                    text:
                        "\(name): the credentials of \(client) are right: to a made-up \(asked ? "token" : "code") its answer is "
                        + "\(word), and with a wrong secret \(otherWord)"
                )
            }
            return Finding(
                isFault: false,
                text: "\(name): the credentials of \(client) could NOT be proven: its answer is \(word) with them, and "
                    + "\(other.word) with a wrong secret"
            )
        }
    }

    private func exchange(_ client: String, _ provider: ProviderConfiguration) async -> Answer {
        guard let endpoint = TokenEndpoint(provider, http: http, clock: clock) else {
            return .none("it has no token_url")
        }
        let grant = CodeGrant(
            provider: provider.policy.name,
            clientID: client,
            code: Self.madeUpCode(provider.policy.name),
            redirectURI: redirectURI,
            codeVerifier: ""
        )
        guard let grant else { return .none("it can't be asked about this client") }
        switch await endpoint.exchange(grant) {
        case .unanswered(let error): return .none("\(error)")
        case .answered(.refused(let word)): return .taken(word)
        case .answered(.notConfigured(let word)): return .refused(word)
        case .answered(.unavailable): return .none("it is not available now")
        case .answered(.exchanged), .answered(.unreadable): return .none("its answer makes no sense")
        }
    }

    /// Facebook: asks about a token that nobody issued, in the app's name ("Access Token Debugging").
    private func debugToken(_ client: String, _ provider: ProviderConfiguration) async -> Answer {
        guard case .secret(let secret) = provider.credentials[client], let url = provider.endpoints.debugTokenURL else {
            return .none("it can't be asked about this app")
        }
        let token = Base64URL.encode(SecureRandom.bytes(32))
        let request = OutgoingRequest(
            .get(query: [("input_token", token), ("access_token", "\(client)|\(secret.text)")]),
            url,
            headers: [("accept", "application/json")],
            timeout: TokenEndpoint.timeout,
            bodyBytesMax: AccessToken.answerBytesMax
        )
        let response: OutgoingResponse
        do throws(OutgoingHTTPError) {
            response = try await http.send(request)
        } catch {
            return .none("\(error)")
        }
        let error = (try? JSONObject(parsing: response.body))?["error"]?.object?["code"]?.integer
        switch (response.status, error) {
        case (200, nil): return .taken("that the token is not valid")
        case (400..<500, let code?): return .refused("error \(code)")
        default: return .none("status \(response.status)")
        }
    }

    /// The provider with a credential for this client that nobody has registered.
    private func withWrongCredential(_ client: String) -> ProviderConfiguration {
        var credentials = provider.credentials
        switch credentials[client] {
        case .apple(let teamID, let keyID, _):
            credentials[client] = (try? SigningKey.generateP256()).map { .apple(teamID: teamID, keyID: keyID, key: $0) }
        case .secret, nil:
            credentials[client] = .secret(Secret(Hex.encode(SecureRandom.bytes(Self.wrongSecretByteCount))))
        }
        return ProviderConfiguration(
            policy: provider.policy,
            endpoints: provider.endpoints,
            credentials: credentials,
            accessTokens: provider.accessTokens
        )
    }

    /// A code of the form that the provider's have, so that it is looked up and not refused for its form.
    private static func madeUpCode(_ name: ProviderName) -> String {
        switch name {
        case .apple: "c\(Hex.encode(SecureRandom.bytes(16))).0.mrtsx.\(Base64URL.encode(SecureRandom.bytes(16)))"
        case .google: "4/0A\(Base64URL.encode(SecureRandom.bytes(51)))"
        default: Base64URL.encode(SecureRandom.bytes(32))
        }
    }
}
