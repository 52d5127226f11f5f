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
    /// The trace that the call belongs to; nil if the caller sent none. Parsed each time it is read.
    public var traceContext: TraceContext? { metadata.isEmpty ? nil : TraceContext(metadata) }

    /// Sends the initial metadata of the answer now. May be called once, before the first message. Throws CANCELLED once the
    /// call has ended, and INTERNAL if the answer has begun or an entry may not be sent.
    public func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        try await call.sendInitialMetadata(metadata)
    }

    /// Compresses the messages of the answer (gzip) where that makes them shorter. Must be called before the first message
    /// and before `sendInitialMetadata`. Worth it only for large answers over slow networks. False, without any effect, if
    /// the caller does not accept gzip or the answer has begun.
    @discardableResult
    public func compressResponses() async -> Bool { await call.compressResponses() }

    /// Whether the request came compressed, where it is one message.
    public var isRequestCompressed: Bool { call.isRequestCompressed }

    /// Sets the id by which the request is found in logs, for a report of a crash, where the caller sent none as `x-request-id`.
    /// Must be called where the handler was called, before it waits for anything.
    public func setRequestID(_ id: String) { call.setRequestID(id) }

    /// Sets the metadata that is sent after the answer or the error, in place of what was set before. An error's own
    /// metadata follows it.
    public func setTrailingMetadata(_ metadata: Metadata) { call.trailingMetadata = metadata }
}
