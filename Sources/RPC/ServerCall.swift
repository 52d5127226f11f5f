import Synchronization

/// One accepted call as a transport hands it to the router; transports subclass it.
///
/// What is constant may be read anywhere. `respond`, `fail` and everything that transports override run where the
/// transport says: for network transports on the event loop of the call's connection.
open class ServerCall: @unchecked Sendable {
    // Sound because the stored properties are constants, but for the trailers, which a lock guards.

    /// The method called.
    public final let method: MethodDescriptor
    /// The request's metadata.
    public final let metadata: Metadata
    /// When the call must have ended; nil if the caller set no limit.
    public final let deadline: Deadline?
    /// The caller's end of the connection.
    public final let peer: PeerInfo
    /// How the messages of both directions are written.
    public final let format: MessageFormat
    private let trailers = Mutex<Metadata?>(nil)

    /// Describes a call.
    public init(
        method: MethodDescriptor,
        metadata: Metadata,
        deadline: Deadline?,
        peer: PeerInfo,
        format: MessageFormat = .protobuf
    ) {
        self.method = method
        self.metadata = metadata
        self.deadline = deadline
        self.peer = peer
        self.format = format
    }

    /// The executor that the handler's task prefers; nil for the global one.
    open var executor: (any TaskExecutor)? { nil }

    /// Keeps the handler's task so that it can be cancelled when the caller or the deadline ends the call.
    /// Not called if the handler ended before its first suspension.
    open func didStart(_ task: Task<Void, Never>) {}

    /// Called once, inside the handler's task, before the handler runs. The default does nothing.
    open func handlerBegan() {}

    /// Sets the id by which the request is found in logs, where the request brought none. Called after `handlerBegan`, if at all,
    /// where the handler runs. The default does nothing.
    open func setRequestID(_ id: String) {}

    /// Called once for each `MethodHandler.start` and `begin`: when the handler has returned, or at once if none was started.
    /// The call may have ended long before. Runs where `respond` and `fail` run. The default does nothing.
    open func handlerEnded() {}

    /// What a call ends with whose request has a message that is none. INTERNAL, as gRPC has it ("Status codes and their use in
    /// gRPC"); INVALID_ARGUMENT where the protocol says so.
    open var malformedMessageCode: Status.Code { .internalError }

    /// Whether the call has ended: by `respond`, by `fail` or in another way. Then `didStart` is not called.
    open var hasEnded: Bool { preconditionFailure("overridden by every transport") }

    /// Sends the answer of a unary call and ends it with OK. Ignored if the call has ended.
    open func respond(_ message: MessageBuffer, trailers: Metadata) {
        preconditionFailure("overridden by every transport")
    }

    /// Ends the call with an error. Ignored if the call has ended.
    open func fail(_ error: RPCError, trailers: Metadata) {
        preconditionFailure("overridden by every transport")
    }

    /// Sends the answer's head with metadata, ahead of the first message. Throws CANCELLED once the call has ended,
    /// INTERNAL if a head was sent or the metadata may not be. Any executor.
    open func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        preconditionFailure("overridden by every transport")
    }

    /// Compresses (gzip) the messages of the answer where that makes them shorter. False if the caller does not accept gzip,
    /// or the answer has begun. Any executor.
    open func compressResponses() async -> Bool { false }

    /// Whether the one message of the request came compressed.
    open var isRequestCompressed: Bool { false }

    /// Sends a message of a streaming answer, and waits while the caller takes none; see `MessageSink.send`. Any executor.
    open func send(_ message: MessageBuffer) async throws(RPCError) {
        preconditionFailure("overridden by every transport")
    }

    /// Ends a streaming answer with OK. Ignored if the call has ended.
    open func finish(trailers: Metadata) { preconditionFailure("overridden by every transport") }

    /// Opens the flow-control window by that many bytes, which were read. Any executor.
    open func consume(byteCount: Int) { preconditionFailure("overridden by every transport") }

    /// What the handler set as trailing metadata.
    final var trailingMetadata: Metadata {
        get { trailers.withLock { $0 } ?? Metadata() }
        set { trailers.withLock { $0 = newValue } }
    }
}
