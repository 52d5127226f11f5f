import RPC
import Tracing

/// How a channel reaches its server.
public struct ChannelConfiguration: Sendable {
    /// TLS; nil for clear text (HTTP/2 by prior knowledge).
    public var tls: TLSConfiguration?
    /// The name that the server's certificate must be for; nil means the target's host.
    public var serverName: String?
    /// Finds the addresses of the target's names.
    public var resolver: any NameResolver = SystemNameResolver()
    /// Least time between two resolutions of a name. A lost or failed connection has the names resolved again, and this keeps
    /// a failing server from causing a flood of queries.
    public var resolutionIntervalMin: Duration = .seconds(1)
    /// Time after which names are resolved again in any case. Begins with the first call.
    public var resolutionInterval: Duration = .seconds(10)
    /// The bounds of each connection.
    public var limits = ConnectionLimits()
    /// The time limit of a call that has no deadline of its own. Nil: no limit, as in other implementations of gRPC. A single
    /// call has no limit with `Deadline.never`.
    public var defaultTimeout: Duration? = .seconds(10)
    /// The bound of the first wait before connecting again; see `Backoff` for the jitter.
    public var backoffFirst: Duration = .milliseconds(100)
    /// The largest bound of a wait before connecting again.
    public var backoffMax: Duration = .seconds(5)
    /// Connections of one loop to one address. Another one is opened when the calls on the open ones have reached the
    /// server's SETTINGS_MAX_CONCURRENT_STREAMS.
    public var connectionsPerAddressMax = 4
    /// Time without a call after which a connection beside the first is drained.
    public var extraConnectionIdleTimeout: Duration = .seconds(60)
    /// Calls on one loop that may wait for a connection, or for room on one. More fail with RESOURCE_EXHAUSTED.
    public var waitingCallsMax = 10_000
    /// How often a call that the server certainly did not process is tried again, at once and whatever its method. These
    /// attempts do not count in `retry`.
    public var transparentRetriesMax = 2
    /// When a call of an idempotent method is tried again that the server may have processed.
    public var retry = RetryPolicy()

    /// Makes a span of each call; nil for none. By default the program's tracer, if it has installed one by now.
    public var tracer: (any Tracer)? = InstrumentationSystem.installedTracer

    /// A configuration with the default bounds.
    public init(tls: TLSConfiguration? = nil) { self.tls = tls }

    /// The deadline of a call that begins now and has none of its own.
    var defaultDeadline: Deadline { defaultTimeout.map(Deadline.after) ?? .never }
}
