import CCurl
import RPCTransport
import Synchronization

/// Sends requests by HTTP/1.1 or 2 with libcurl, on event loops: a request that is asked for on a loop of the group begins and
/// ends there, any other on one of them in turn. TLS is 1.2 or later, and certificates are verified. Connections are kept for
/// a few seconds, each loop its own. Any thread.
///
/// It ends with its group: then what is under way fails. A client that nobody holds any more closes its connections.
public final class HTTPSClient: OutgoingClient {
    /// How much is done at once.
    public struct Limits: Sendable {
        /// The most requests that are under way at once; more are refused at once.
        public var requestsMax = 256
        /// The most connections to one host, on all loops together; requests wait for one. At least one a loop.
        public var connectionsPerHostMax = 32
        /// The most connections, on all loops together. At least one a loop.
        public var connectionsMax = 64
        /// How long a connection that nobody uses is kept. Servers end theirs after a while, often just as it is used again.
        public var idleTime: Duration = .seconds(5)

        /// The limits of a service.
        public init() {}
    }

    private let group: EventLoopGroup
    private let parts: [LoopTransfers]
    private let proxies: ProxySettings
    private let requestsMax: Int
    private let underWay = Atomic<Int>(0)

    /// A client, which connects nothing yet.
    ///
    /// - Parameters:
    ///   - userAgent: how it calls itself.
    ///   - group: where it works.
    ///   - limits: how much is done at once.
    ///   - connectTimeout: how long the look-up of a name, and then a connection, may take, TLS included. A request whose time
    ///     is shorter ends sooner.
    ///   - trust: the authorities that servers' certificates come from.
    ///   - proxies: the way out.
    ///   - speaksHTTP2: whether HTTP/2 is spoken to `https` servers that can, by which requests share a connection.
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

    /// Once a process. libcurl and OpenSSL allow that from any thread, and each finds OpenSSL set up if another was first.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Sends a request and collects the whole answer.
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
        // Each step is taken on the loop: a cancellation comes there before the beginning, or when the request is under way, or
        // when it is over and nobody waits.
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

/// What all requests of a client have in common on a loop.
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
