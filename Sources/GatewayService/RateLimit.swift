import HTTPJSON
import Hummingbird
import NIOCore
import RPC
import Synchronization

/// The limit on requests that need no session, for each client address.
final class RateLimit: Sendable {
    /// What is limited, and how much.
    struct Policy: Sendable {
        /// Requests per second that an address may make on end.
        var perSecond: Double = 50
        /// Requests that it may make at once.
        var burst: Double = 100
        /// How many addresses are remembered.
        var addressesMax = 65_536
        /// How many proxies of ours stand before the gateway.
        var proxyCount = 0
    }

    /// The paths that are limited begin with this.
    static let pathPrefix = "/auth/"

    private let policy: Policy
    private let nowNanoseconds: @Sendable () -> UInt64
    private let buckets: Mutex<TokenBuckets<ClientAddress>>

    init(_ policy: Policy, nowNanoseconds: @escaping @Sendable () -> UInt64 = { Deadline.now().nanoseconds }) {
        self.policy = policy
        self.nowNanoseconds = nowNanoseconds
        buckets = Mutex(
            TokenBuckets(perSecond: policy.perSecond, burst: policy.burst, keysMax: policy.addressesMax)
        )
    }

    /// Lets a request in.
    ///
    /// - Throws: 429 with the time to wait.
    func admit(_ request: Request, _ context: EdgeContext) throws(Problem) {
        guard request.uri.path.hasPrefix(Self.pathPrefix) else { return }
        let address = ClientAddress(
            peer: context.peerAddress?.ipAddress,
            forwarded: request.headers[.forwardedFor],
            proxyCount: policy.proxyCount
        )
        let now = nowNanoseconds()
        guard let wait = buckets.withLock({ $0.take(address, nowNanoseconds: now) }) else { return }
        throw Problem(
            .tooManyRequests,
            code: "RATE_LIMITED",
            detail: "There were too many requests. Please try again later."
        ).retryingAfter(wait)
    }
}
