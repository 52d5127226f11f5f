/// What a client asks of one call.
public struct CallOptions: Sendable {
    /// When the call must have ended. Sent to the server as `grpc-timeout`. Nil: the channel's default. `Deadline.never`: there
    /// is no limit, and nothing is sent.
    public var deadline: Deadline?
    /// Metadata sent with the request.
    public var metadata: Metadata
    /// Whether a call that finds no connection waits for one until its deadline, instead of failing with UNAVAILABLE.
    public var waitForReady: Bool
    /// Whether messages of the request are compressed (gzip) where that makes them shorter. A server without gzip answers
    /// UNIMPLEMENTED. Compressed answers are always accepted.
    public var compressesRequest = false
    /// Receives the metadata of the answer. Nil: it is dropped.
    public var responseMetadata: ResponseMetadata?
    /// Whether a call that a handler makes inherits deadline and trace of the handler's own call (`OnwardCall`). False for
    /// work that outlives that call.
    public var inheritsFromCall = true

    /// Options with a moment by which the call must have ended, or `.never`.
    public init(deadline: Deadline, metadata: Metadata = Metadata(), waitForReady: Bool = false) {
        self.init(metadata: metadata, waitForReady: waitForReady)
        self.deadline = deadline
    }

    /// Options with a time limit from now.
    public init(timeout: Duration? = nil, metadata: Metadata = Metadata(), waitForReady: Bool = false) {
        deadline = timeout.map(Deadline.after)
        self.metadata = metadata
        self.waitForReady = waitForReady
    }

    /// Options for a call made on behalf of another: it ends when that one must, or after `timeout` if that is sooner.
    /// Needed only where the handler's task doesn't make the call itself; see `OnwardCall`.
    public init(inheriting context: ServerContext, timeout: Duration? = nil) {
        self.init(timeout: timeout)
        if let outer = context.deadline { deadline = min(outer, deadline ?? outer) }
    }
}
