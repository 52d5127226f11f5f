import CCurl
import RPCTransport
import Synchronization

/// Sends requests by HTTP/1.1 or 2 with libcurl, on event loops. A request from a loop of the group runs on that loop; others are
/// distributed over the loops in turn. TLS is 1.2 or later, and certificates are verified. Each loop has its own connections, and
/// keeps them for a few seconds. Any thread.
///
/// It ends with its group: requests in flight then fail. A client without references closes its connections.
public final class HTTPSClient: OutgoingClient {
    /// The limits of a client.
    public struct Limits: Sendable {
        /// The maximum of requests in flight; further requests fail immediately.
        public var requestsMax = 256
        /// The maximum of connections to one host, on all loops together; requests wait for one. At least one per loop.
        public var connectionsPerHostMax = 32
        /// The maximum of connections, on all loops together. At least one per loop.
        public var connectionsMax = 64
        /// How long an idle connection is kept. Servers close idle connections, often just as they are used again.
        public var idleTime: Duration = .seconds(5)

        /// The limits of a service.
        public init() {}
    }

    private let group: EventLoopGroup
    private let parts: [LoopTransfers]
    private let proxies: ProxySettings
    private let requestsMax: Int
    private let underWay = Atomic<Int>(0)

    /// A client; it doesn't connect yet.
    ///
    /// - Parameters:
    ///   - userAgent: the value of User-Agent.
    ///   - group: the loops that it runs on.
    ///   - limits: its limits.
    ///   - connectTimeout: the timeout of the look-up of a name, and then of a connection, TLS included. A request with a
    ///     shorter timeout ends sooner.
    ///   - trust: the trusted authorities of servers' certificates.
    ///   - proxies: the proxies.
    ///   - speaksHTTP2: whether to use HTTP/2 with `https` servers that support it, so that requests share a connection.
    ///   - resolver: finds the addresses of names.
    public init(
        userAgent: String,
        group: EventLoopGroup,
        limits: Limits = Limits(),
        connectTimeout: Duration = .seconds(3),
        trust: TrustStore = .system(),
        proxies: ProxySettings = .none,
        speaksHTTP2: Bool = true,
        resolver: any NameResolver = SystemNameResolver()
    ) {
        precondition(Self.isReady, "libcurl could not be set up")
        let loopCount = group.loops.count
        let settings = ClientSettings(
            userAgent: userAgent,
            connectTimeout: connectTimeout,
            connectionsPerHostMax: max(1, limits.connectionsPerHostMax / loopCount),
            connectionsMax: max(1, limits.connectionsMax / loopCount),
            idleTime: limits.idleTime,
            trust: trust,
            speaksHTTP2: speaksHTTP2,
            resolver: resolver
        )
        self.group = group
        self.proxies = proxies
        requestsMax = limits.requestsMax
        parts = group.loops.map { LoopTransfers(loop: $0, settings: settings) }
    }

    deinit {
        for part in parts { part.loop.execute { part.close() } }
    }

    /// Set up once per process. libcurl and OpenSSL allow that from any thread, and OpenSSL may be set up already.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Sends a request and collects the whole response.
    public func send(_ request: OutgoingRequest) async throws(OutgoingHTTPError) -> OutgoingResponse {
        let prepared = try PreparedRequest(request, proxies: proxies)
        guard underWay.add(1, ordering: .relaxed).newValue <= requestsMax else {
            underWay.subtract(1, ordering: .relaxed)
            throw OutgoingHTTPError(.overloaded, mayHaveBeenSent: false)
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        let loop = group.next()
        let part = parts[loop.index]
        let transfer = Transfer(prepared)
        // Each step runs on the loop, so a cancellation arrives there before the request begins, while it is in flight, or after its
        // end, when no caller waits.
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                if loop.isCurrent {
                    part.begin(transfer, caller)
                } else {
                    loop.execute { part.begin(transfer, caller) }
                }
            }
        } onCancel: {
            loop.execute { part.cancel(transfer) }
        }
        return try result.get()
    }
}

/// The common settings of a client's requests on a loop.
struct ClientSettings: Sendable {
    let userAgent: String
    let connectTimeout: Duration
    let connectionsPerHostMax: Int
    let connectionsMax: Int
    let idleTime: Duration
    let trust: TrustStore
    let speaksHTTP2: Bool
    let resolver: any NameResolver
}
