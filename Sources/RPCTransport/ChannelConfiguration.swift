/// How a channel reaches its server.
public struct ChannelConfiguration: Sendable {
    /// TLS; nil for clear text (HTTP/2 by prior knowledge).
    public var tls: TLSConfiguration?
    /// The name that the server's certificate must be for; nil means the target's host.
    public var serverName: String?
    /// The bounds of each connection.
    public var limits = ConnectionLimits()
    /// The time limit of a call that has none of its own.
    public var defaultTimeout: Duration = .seconds(10)
    /// The first wait before connecting again, doubled each time up to the maximum, each with up to a fifth of jitter
    /// (gRPC connection backoff protocol).
    public var backoffFirst: Duration = .milliseconds(100)
    /// The longest wait before connecting again.
    public var backoffMax: Duration = .seconds(5)
    /// Calls on one loop that may wait for a connection.
    public var waitingCallsMax = 10_000
    /// How often a call of any method that the server certainly did not process is tried again, at once. It counts for
    /// nothing in `retry`.
    public var transparentRetriesMax = 2
    /// When calls of idempotent methods are tried again that the server may have processed.
    public var retry = RetryPolicy()

    /// A configuration with the default bounds.
    public init(tls: TLSConfiguration? = nil) { self.tls = tls }
}
