import IdentityDomain
import JOSE
import OutgoingHTTP
import Synchronization

/// What an OpenID provider says of itself.
struct ProviderDescription: Sendable, Hashable {
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let keysURL: String
    let algorithms: [SignatureAlgorithm]
}

/// The provider's description and keys, kept for a while.
final class ProviderDocuments: Sendable {
    /// How long the provider may take.
    static let timeout: Duration = .seconds(5)
    private static let bytesMax = 64 * 1024
    private static let keysBytesMax = 256 * 1024
    /// How long the description counts, in seconds.
    private static let descriptionSecondsMax: Int64 = 3600
    /// How long keys count, in seconds.
    private static let keysSecondsMax: Int64 = 600
    /// How long after a failure the description isn't asked for again.
    private static let failurePause: Duration = .seconds(3)
    /// How long after a fetch an unknown key makes for no other one, in seconds.
    private static let coolDownSeconds: Int64 = 10

    private struct State {
        var description: (value: ProviderDescription, at: ConsoleTime)?
        var keys: (value: KeySet, at: ConsoleTime)?
        /// When the description could not be had last.
        var failedAt: ContinuousClock.Instant?
        /// The fetches that are under way: who needs the same waits for it.
        var describing: Task<Result<ProviderDescription, SignInFailure>, Never>?
        var fetchingKeys: Task<Result<KeySet, SignInFailure>, Never>?
    }

    private let settings: OpenIDProvider.Settings
    private let http: any OutgoingClient
    private let state = Mutex(State())

    init(_ settings: OpenIDProvider.Settings, http: any OutgoingClient) {
        self.settings = settings
        self.http = http
    }

    /// The description, fetched if the kept one is too old.
    func description(now: ConsoleTime) async throws(SignInFailure) -> ProviderDescription {
        if let kept = state.withLock({ $0.description }), now.seconds(since: kept.at) < Self.descriptionSecondsMax {
            return kept.value
        }
        let fetch = try state.withLock { state throws(SignInFailure) in
            if let fetch = state.describing { return fetch }
            // Anybody can begin a sign-in: a provider that is down isn't asked by each of them.
            if let failed = state.failedAt, ContinuousClock.now - failed < Self.failurePause {
                throw .unavailable("its description could not be had a moment ago")
            }
            let fetch = Task { await describe(now: now) }
            state.describing = fetch
            return fetch
        }
        return try await fetch.value.get()
    }

    private func describe(now: ConsoleTime) async -> Result<ProviderDescription, SignInFailure> {
        do throws(SignInFailure) {
            let body = try await get(settings.discoveryURL, bytesMax: Self.bytesMax)
            let description = try Self.description(body, issuer: settings.issuer)
            state.withLock { state in
                (state.description, state.failedAt, state.describing) = ((description, now), nil, nil)
            }
            return .success(description)
        } catch {
            state.withLock { ($0.failedAt, $0.describing) = (.now, nil) }
            return .failure(error)
        }
    }

    /// The key of a token; nil if the provider has none of its id.
    func key(
        _ token: ProviderToken,
        _ description: ProviderDescription,
        now: ConsoleTime
    ) async throws(SignInFailure) -> VerificationKey? {
        if let kept = state.withLock({ $0.keys }) {
            let age = now.seconds(since: kept.at)
            let key = kept.value.key(id: token.keyID, algorithm: token.algorithm)
            if age < Self.keysSecondsMax, key != nil || age < Self.coolDownSeconds { return key }
        }
        let fetch = state.withLock { state in
            if let fetch = state.fetchingKeys { return fetch }
            let fetch = Task { await fetchKeys(description.keysURL, now: now) }
            state.fetchingKeys = fetch
            return fetch
        }
        return try await fetch.value.get().key(id: token.keyID, algorithm: token.algorithm)
    }

    private func fetchKeys(_ url: String, now: ConsoleTime) async -> Result<KeySet, SignInFailure> {
        do throws(SignInFailure) {
            let body = try await get(url, bytesMax: Self.keysBytesMax)
            guard let keys = try? KeySet(parsing: body) else { throw .unavailable("its key set can't be read") }
            state.withLock { ($0.keys, $0.fetchingKeys) = ((keys, now), nil) }
            return .success(keys)
        } catch {
            state.withLock { $0.fetchingKeys = nil }
            return .failure(error)
        }
    }

    /// Reads a description. Each address must be of https, or of http on this machine, and the document must name the issuer.
    static func description(_ body: [UInt8], issuer: String) throws(SignInFailure) -> ProviderDescription {
        guard let document = try? JSONObject(parsing: body, limits: JSONLimits(bytesMax: bytesMax)) else {
            throw .unavailable("its description is no JSON object")
        }
        // Section 4.3: anybody's document could name the keys otherwise.
        guard document["issuer"]?.string == issuer else { throw .unavailable("its description names another issuer") }
        let names = ["authorization_endpoint", "token_endpoint", "jwks_uri"]
        let addresses = names.compactMap { document[$0]?.string }.filter(ProviderURL.isAcceptable)
        let theirs = Set((document["id_token_signing_alg_values_supported"]?.array ?? []).compactMap(\.string))
        let algorithms = SignatureAlgorithm.allCases.filter { theirs.contains($0.rawValue) }
        guard addresses.count == names.count, !algorithms.isEmpty else {
            throw .unavailable("its description lacks an endpoint, or an algorithm that is known here")
        }
        return ProviderDescription(
            authorizationEndpoint: addresses[0],
            tokenEndpoint: addresses[1],
            keysURL: addresses[2],
            algorithms: algorithms
        )
    }

    private func get(_ url: String, bytesMax: Int) async throws(SignInFailure) -> [UInt8] {
        let request = OutgoingRequest(
            .get(),
            url,
            headers: [("accept", "application/json")],
            timeout: Self.timeout,
            bodyBytesMax: bytesMax
        )
        let response: OutgoingResponse
        do throws(OutgoingHTTPError) {
            response = try await http.send(request)
        } catch {
            throw .unavailable("\(error)")
        }
        guard response.status == 200 else { throw .unavailable("\(url) answered \(response.status)") }
        return response.body
    }
}
