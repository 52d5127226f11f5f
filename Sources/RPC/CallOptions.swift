/// What a client asks of one call.
public struct CallOptions: Sendable {
    /// When the call must have ended; sent to the server as `grpc-timeout`. Nil means the channel's default.
    public var deadline: Deadline?
    /// Metadata sent with the request.
    public var metadata: Metadata
    /// Whether to wait, until the deadline, for a connection where there is none, instead of failing with UNAVAILABLE.
    public var waitForReady: Bool

    /// Options with a time limit from now.
    public init(timeout: Duration? = nil, metadata: Metadata = Metadata(), waitForReady: Bool = false) {
        deadline = timeout.map(Deadline.after)
        self.metadata = metadata
        self.waitForReady = waitForReady
    }

    /// Options for a call made on behalf of another: it ends when that one must, or after `timeout` if that is sooner.
    public init(inheriting context: ServerContext, timeout: Duration? = nil) {
        self.init(timeout: timeout)
        if let outer = context.deadline { deadline = min(outer, deadline ?? outer) }
    }
}
