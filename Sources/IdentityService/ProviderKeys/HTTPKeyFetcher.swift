import AsyncHTTPClient
import IdentityDomain
import JOSE
import NIOCore
import NIOHTTP1
import NIOPosix

/// Why a key set could not be fetched. Holds nothing secret.
enum KeyFetchFault: Error, Sendable, Hashable {
    /// The provider answered with another status than 200.
    case status(Int)
    /// The answer is no key set.
    case keySet(KeySetError)
}

/// Fetches key sets over HTTP/1.1 or 2, on one thread of its own. TLS certificates are verified by the system's
/// roots; redirects are not followed, so that only the configured host can answer.
final class HTTPKeyFetcher: KeyFetching {
    /// The longest answer, in bytes.
    static let bodyBytesMax = 256 * 1024
    /// How long a whole fetch may take, unless a test says otherwise: less than a sign-in may, so that who waits for it
    /// is told what is the matter.
    static let defaultTimeout: Duration = .seconds(3)

    private let group: MultiThreadedEventLoopGroup
    private let client: HTTPClient
    private let timeout: TimeAmount

    /// A fetcher; ``shutdown()`` must follow.
    init(timeout: Duration = defaultTimeout) {
        self.timeout = TimeAmount(timeout)
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: self.timeout, read: self.timeout)
        // Otherwise a refused connection would be tried again until the time is up. When to try again is the key cache's
        // to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        configuration.connectionPool.idleTimeout = .seconds(5)
        client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    /// Fetches a key set.
    func fetchKeys(from url: String) async throws -> FetchedKeys {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        request.headers.add(name: "user-agent", value: "vestibule-identity")
        let response = try await client.execute(request, timeout: timeout)
        guard response.status == .ok else { throw KeyFetchFault.status(Int(response.status.code)) }
        let body = try await response.body.collect(upTo: Self.bodyBytesMax)
        let keySet: KeySet
        do {
            keySet = try KeySet(parsing: body.readableBytesView)
        } catch {
            throw KeyFetchFault.keySet(error)
        }
        let cacheControl = response.headers["cache-control"].joined(separator: ",")
        return FetchedKeys(keySet: keySet, maxAgeSeconds: CacheControl.maxAgeSeconds(cacheControl))
    }

    /// Ends all connections and the thread.
    func shutdown() async throws {
        try await client.shutdown()
        try await group.shutdownGracefully()
    }
}
