import IdentityDomain
import JOSE
import OutgoingHTTP

/// Why a key set could not be fetched. Contains no secret.
enum KeyFetchError: Error, Sendable, Hashable {
    /// The provider answered with another status than 200.
    case status(Int)
    /// The response is no valid key set.
    case keySet(KeySetError)
}

/// Fetches key sets over HTTP.
struct HTTPKeyFetcher: KeyFetching {
    /// The longest response, in bytes.
    static let bodyBytesMax = 256 * 1024
    /// How long a whole fetch may take, unless a test says otherwise: less than a sign-in may, so that a waiting sign-in gets the
    /// actual error.
    static let defaultTimeout: Duration = .seconds(3)

    private let http: any OutgoingClient
    private let timeout: Duration

    /// A fetcher that uses this client.
    init(_ http: any OutgoingClient, timeout: Duration = defaultTimeout) {
        self.http = http
        self.timeout = timeout
    }

    /// Fetches a key set.
    func fetchKeys(from url: String) async throws -> FetchedKeys {
        let request = OutgoingRequest(
            .get(),
            url,
            headers: [("accept", "application/jwk-set+json, application/json")],
            timeout: timeout,
            bodyBytesMax: Self.bodyBytesMax
        )
        let response = try await http.send(request)
        guard response.status == 200 else { throw KeyFetchError.status(response.status) }
        let keySet: KeySet
        do {
            keySet = try KeySet(parsing: response.body)
        } catch {
            throw KeyFetchError.keySet(error)
        }
        let maxAgeSeconds = CacheControl.maxAgeSeconds(response.header("cache-control"))
        return FetchedKeys(keySet: keySet, maxAgeSeconds: maxAgeSeconds)
    }
}
