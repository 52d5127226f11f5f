import RPC
import Tracing

/// How a channel reaches its server.
public struct ChannelConfiguration: Sendable {
    /// TLS; nil for clear text (HTTP/2 by prior knowledge).
    public var tls: TLSConfiguration?
    /// The name that the server's certificate must be for; nil means the target's host.
    public var serverName: String?
    /// How calls are spread over the target's addresses.
    public var balancing: BalancingPolicy = .pickFirst
    /// Finds the addresses of the target's names.
    public var resolver: any NameResolver = SystemNameResolver()
    /// Names are resolved again when a connection is lost or cannot be made, but never sooner than this after the last
    /// answer, so that a failing server does not become a flood of queries.
    public var resolutionIntervalMin: Duration = .seconds(1)
    /// Names are resolved again after this time in any case, from the first call on.
    public var resolutionInterval: Duration = .seconds(10)
    /// The bounds of each connection.
    public var limits = ConnectionLimits()
    /// The time limit of a call that has none of its own. Nil lets such a call take as long as it likes, as other
    /// implementations of gRPC do; a single one may with `Deadline.never`.
    public var defaultTimeout: Duration? = .seconds(10)
    /// The first wait before connecting again, doubled each time up to the maximum, each with up to a fifth of jitter
    /// (gRPC connection backoff protocol).
    public var backoffFirst: Duration = .milliseconds(100)
    /// The longest wait before connecting again.
    public var backoffMax: Duration = .seconds(5)
    /// Connections of one loop to one address: another one is opened when the calls on those there reach the server's
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    public var connectionsPerAddressMax = 4
    /// Time without a call after which a connection beside the first is drained.
    public var extraConnectionIdleTimeout: Duration = .seconds(60)
    /// Calls on one loop that may wait for a connection or for room on one; past it they fail with RESOURCE_EXHAUSTED.
    public var waitingCallsMax = 10_000
    /// How often a call of any method that the server certainly did not process is tried again, at once. It counts for
    /// nothing in `retry`.
    public var transparentRetriesMax = 2
    /// When calls of idempotent methods are tried again that the server may have processed.
    public var retry = RetryPolicy()

    /// Makes a span of each call; nil for none. By default the program's tracer, if it has installed one by now.
    public var tracer: (any Tracer)? = InstrumentationSystem.installedTracer

    /// A configuration with the default bounds.
    public init(tls: TLSConfiguration? = nil) { self.tls = tls }

    /// When a call that says nothing of it must have ended.
    var defaultDeadline: Deadline { defaultTimeout.map(Deadline.after) ?? .never }
}
