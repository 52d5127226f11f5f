/// What a client asks of one call.
public struct CallOptions: Sendable {
    /// When the call must have ended; sent to the server as `grpc-timeout`. Nil means the channel's default, `Deadline.never`
    /// that there is no limit and none is sent.
    public var deadline: Deadline?
    /// Metadata sent with the request.
    public var metadata: Metadata
    /// Whether to wait, until the deadline, for a connection where there is none, instead of failing with UNAVAILABLE.
    public var waitForReady: Bool
    /// Whether messages of the request are compressed (gzip) where that makes them shorter. A server that takes no gzip
    /// answers UNIMPLEMENTED. Compressed answers are taken always.
    public var compressesRequest = false
    /// Takes the metadata of the answer; nil if nobody wants it.
    public var responseMetadata: ResponseMetadata?
    /// Whether a call made inside a handler ends when the handler's call must and belongs to its trace (`OnwardCall`).
    /// False for work that outlives the handler's call.
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
