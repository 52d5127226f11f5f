/// What a handler knows of the call that it answers.
public struct ServerContext: Sendable {
    let call: ServerCall

    /// The context of a call.
    public init(_ call: ServerCall) { self.call = call }

    /// The method called.
    public var method: MethodDescriptor { call.method }
    /// The request's metadata.
    public var metadata: Metadata { call.metadata }
    /// When the call must have ended. The transport ends it then, whatever the handler does, and cancels its task.
    public var deadline: Deadline? { call.deadline }
    /// The caller's end of the connection.
    public var peer: PeerInfo { call.peer }
    /// Where the call stands in a distributed trace; nil if the caller says nothing of one. Read anew each time.
    public var traceContext: TraceContext? { metadata.isEmpty ? nil : TraceContext(metadata) }

    /// Sends metadata ahead of the answer, now: at most once, before the first message. Without it the answer begins with
    /// none. Throws CANCELLED once the call has ended, INTERNAL if it is too late or has an entry that may not be sent.
    public func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        try await call.sendInitialMetadata(metadata)
    }

    /// Compresses the messages of the answer (gzip) where that makes them shorter; before the first message and
    /// `sendInitialMetadata`. Worth it for large answers over slow networks only. False if the caller takes no gzip, or
    /// the answer has begun; then nothing changes.
    @discardableResult
    public func compressResponses() async -> Bool { await call.compressResponses() }

    /// Whether the request came compressed, where it is one message.
    public var isRequestCompressed: Bool { call.isRequestCompressed }

    /// Sets the metadata that is sent after the answer or the error, in place of what was set before. An error's own
    /// metadata follows it.
    public func setTrailingMetadata(_ metadata: Metadata) { call.trailingMetadata = metadata }
}
