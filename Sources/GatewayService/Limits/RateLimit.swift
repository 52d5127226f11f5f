import HTTPJSON
import HTTPTypes
import Logging
import RPC
import ServiceKit
import Synchronization

/// How much a client address and an account may ask for. Counted in this process alone: what must hold across replicas,
/// such as tries of phone numbers, the services count in their databases.
final class RateLimit: Sendable {
    /// What is limited, and how much.
    struct Policy: Sendable {
        /// Requests of any kind by a client address.
        var address = RequestRate(perSecond: 500, burst: 1000)
        /// Requests to ``pathPrefixes`` and calls of AuthService by a client address: those that need no session and cost
        /// cryptography.
        var auth = RequestRate(perSecond: 50, burst: 100)
        /// Requests of any kind by an account.
        var account = RequestRate(perSecond: 50, burst: 200)
        /// Requests by an account that change something.
        var changes = RequestRate(perSecond: 5, burst: 100)
        /// How many slots each limit has in each of its two rows, eight bytes each.
        var slotsPerRow = 65_536
        /// The proxies that are ours.
        var trustedProxies: [IPNetwork] = []
    }

    /// The paths of ``Policy/auth`` begin with one of these: ours and those of the dialects.
    static let pathPrefixes =
        ["/auth/", "/oauth2/", "/sign-in/"] + Dialect.allCases.map(\.signInPrefix).filter { !$0.hasPrefix("/auth/") }
    /// The limit of a /48 as a multiple of that of a /64. A site has a /48 and would be 65,536 clients otherwise; but
    /// a mobile network may serve as many phones from one.
    static let siteFactor = 16.0
    /// The shortest time between two warnings of an ignored X-Forwarded-For.
    static let warningInterval = Duration.seconds(600)

    private let proxies: TrustedProxies
    private let nowNanoseconds: @Sendable () -> UInt64
    private let addresses: AddressLimit
    private let auth: AddressLimit
    private let accounts: Mutex<TokenBuckets<String>>
    private let changes: Mutex<TokenBuckets<String>>
    private let nextWarningNanoseconds = Atomic<UInt64>(0)

    init(_ policy: Policy, nowNanoseconds: @escaping @Sendable () -> UInt64 = { Deadline.now().nanoseconds }) {
        proxies = TrustedProxies(networks: policy.trustedProxies)
        self.nowNanoseconds = nowNanoseconds
        addresses = AddressLimit(policy.address, slotsPerRow: policy.slotsPerRow)
        auth = AddressLimit(policy.auth, slotsPerRow: policy.slotsPerRow)
        accounts = Mutex(TokenBuckets(policy.account, slotsPerRow: policy.slotsPerRow))
        changes = Mutex(TokenBuckets(policy.changes, slotsPerRow: policy.slotsPerRow))
    }

    /// The client that calls.
    func client(_ caller: Caller) -> ClientAddress {
        proxies.client(peer: caller.peer.ipAddress, forwarded: caller.headers[.forwardedFor])
    }

    /// Admits requests to routes by client address; throws 429 with the time to wait.
    ///
    /// The matched route decides what counts, never the path: a path can be written in more ways than one.
    func admission(to routes: [Route]) -> @Sendable (Request, RouteContext) throws -> Void {
        let isAuth = routes.map { route in Self.pathPrefixes.contains(where: route.path.hasPrefix) }
        return { [self] request, context in
            try admit(.route(request, context), isAuth: context.routeIndex.map { isAuth[$0] } ?? false)
        }
    }

    /// Admits a request or a call by client address.
    ///
    /// - Parameter isAuth: whether ``Policy/auth`` counts it.
    /// - Throws: 429 with the time to wait.
    func admit(_ caller: Caller, isAuth: Bool) throws(Problem) {
        let (peer, forwarded) = (caller.peer.ipAddress, caller.headers[.forwardedFor])
        if forwarded != nil, let peer, !proxies.isTrusted(peer) { warnOfIgnoredProxy(caller.logger) }
        let client = proxies.client(peer: peer, forwarded: forwarded)
        let now = nowNanoseconds()
        try Self.check(addresses.take(client, nowNanoseconds: now))
        if isAuth { try Self.check(auth.take(client, nowNanoseconds: now)) }
    }

    /// Admits an account's request, once its token was verified.
    ///
    /// - Parameter isChange: whether the request changes something.
    /// - Throws: 429 with the time to wait.
    func admit(account: String, isChange: Bool) throws(Problem) {
        let now = nowNanoseconds()
        try Self.check(accounts.withLock { $0.take(account, nowNanoseconds: now) })
        if isChange { try Self.check(changes.withLock { $0.take(account, nowNanoseconds: now) }) }
    }

    private static func check(_ wait: Duration?) throws(Problem) {
        guard let wait else { return }
        throw Problem(
            .tooManyRequests,
            code: "RATE_LIMITED",
            detail: "There were too many requests. Please try again later."
        ).retryingAfter(wait)
    }

    /// Warns an operator who forgot to name the proxy: all clients share one bucket then. Without the address: it may be a
    /// person's.
    private func warnOfIgnoredProxy(_ logger: @autoclosure () -> Logger) {
        let now = nowNanoseconds()
        let next = nextWarningNanoseconds.load(ordering: .relaxed)
        let after = now + UInt64(Self.warningInterval.wholeNanoseconds)
        guard now >= next,
            nextWarningNanoseconds.compareExchange(expected: next, desired: after, ordering: .relaxed).exchanged
        else { return }
        logger().warning(
            "X-Forwarded-For was ignored: it came from an address that is in none of the trusted networks. If that is a proxy of yours, all who come through it share one limit until it is named",
            metadata: ["key": "\(GatewayKeys.trustedProxies.name)"]
        )
    }
}

/// The limit of client addresses: each /64 or IPv4 address by itself, and the /48 around it. Any thread.
private final class AddressLimit: Sendable {
    private let clients: Mutex<TokenBuckets<ClientAddress>>
    private let sites: Mutex<TokenBuckets<UInt64>>

    init(_ rate: RequestRate, slotsPerRow: Int) {
        clients = Mutex(TokenBuckets(rate, slotsPerRow: slotsPerRow))
        let site = RequestRate(
            perSecond: rate.perSecond * RateLimit.siteFactor,
            burst: rate.burst * RateLimit.siteFactor
        )
        sites = Mutex(TokenBuckets(site, slotsPerRow: slotsPerRow))
    }

    /// Takes a token. Returns nil if there was one, else how long until there is one.
    func take(_ client: ClientAddress, nowNanoseconds: UInt64) -> Duration? {
        if let wait = clients.withLock({ $0.take(client, nowNanoseconds: nowNanoseconds) }) { return wait }
        guard let site = client.site else { return nil }
        return sites.withLock { $0.take(site, nowNanoseconds: nowNanoseconds) }
    }
}
