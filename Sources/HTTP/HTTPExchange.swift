import RPC

/// One request and its response: a stream of HTTP/2, or one exchange on a connection of HTTP/1.x. Transports subclass it.
///
/// Constants may be read anywhere. Methods run on the executor of the transport, for network transports the event loop of the
/// connection, unless documented as running on any executor.
///
/// A response is either `respond`, or `sendHead`, `send`…, `finish`. Calls on an exchange that has ended are ignored.
open class HTTPExchange: @unchecked Sendable {
    // Safe because its stored properties are constants.

    /// The request's head.
    public final let head: HTTPRequestHead
    /// The other end of the connection.
    public final let peer: PeerInfo

    /// Makes an exchange.
    public init(head: HTTPRequestHead, peer: PeerInfo) {
        self.head = head
        self.peer = peer
    }

    /// The executor that the handler's task prefers; nil for the global one.
    open var executor: (any TaskExecutor)? { nil }

    /// Keeps the handler's task, to cancel it if the exchange ends before its response. Not called if the handler has ended
    /// before its first suspension.
    open func didStart(_ task: Task<Void, Never>) {}

    /// Called once for each `HTTPHandler.begin`: when no more code runs for the exchange.
    open func handlerEnded() {}

    /// Whether the response is complete, or the exchange has ended in another way.
    open var hasEnded: Bool { preconditionFailure("overridden by every transport") }

    /// Makes the response, which must not have begun yet, the last of its connection: on HTTP/1.x it has Connection: close, and the
    /// rest of the request isn't awaited. Does nothing on HTTP/2, whose streams end by themselves.
    open func closeAfterAnswer() {}

    /// Sends the whole response. The transport adds Date, Content-Length and the fields of the connection, and omits the body where
    /// HTTP has none (HEAD, 204, 304). Keeps no reference to `fields` and `body`.
    open func respond(status: Int, fields: Metadata, body: UnsafeRawBufferPointer) {
        preconditionFailure("overridden by every transport")
    }

    /// Sends the head of a response whose body follows; `contentLength` is nil if unknown. False if the exchange has ended, a head
    /// was sent already, or a field may not be sent.
    @discardableResult
    open func sendHead(status: Int, fields: Metadata, contentLength: Int?) -> Bool {
        preconditionFailure("overridden by every transport")
    }

    /// Queues bytes of the body, and waits while more than the high-water mark is queued. The buffer's room in front
    /// (`MessageBuffer.offset`) is not sent. Throws `RPCError` CANCELLED once the exchange has ended or the task was cancelled. Any
    /// executor.
    open func send(_ bytes: MessageBuffer) async throws(RPCError) {
        preconditionFailure("overridden by every transport")
    }

    /// Ends the response. HTTP/2 sends trailers; HTTP/1.1 if the client accepts them, otherwise they are dropped.
    open func finish(trailers: Metadata) { preconditionFailure("overridden by every transport") }

    /// Ends the response with a last part of its body, which is queued even above the high-water mark. Then like `finish(trailers:)`.
    open func finish(with last: MessageBuffer, trailers: Metadata) {
        preconditionFailure("overridden by every transport")
    }

    /// Ends the exchange without the rest of its response: resets the stream, or closes the connection.
    open func reset() { preconditionFailure("overridden by every transport") }

    /// Reports that bytes of the body were consumed, so that the client may send more. `keeps`: they stay in memory until the
    /// exchange ends, and count as held for the client until then. False if the client makes us hold too much already, which is
    /// known only on the exchange's executor. Any executor.
    @discardableResult
    open func consume(byteCount: Int, keeps: Bool) -> Bool { preconditionFailure("overridden by every transport") }

    /// Reports that bytes that were passed to `consume` with `keeps` are no longer kept. Any executor.
    open func release(byteCount: Int) { preconditionFailure("overridden by every transport") }

    /// Reports the exchange's call, for the statistics of calls; nil for an unknown method. If the exchange ends before
    /// `callEnded`, the call counts as CANCELLED. The default does nothing.
    open func callBegan(_ method: MethodDescriptor?) {}

    /// Reports the status of the call. The default does nothing.
    open func callEnded(_ code: Status.Code) {}

    /// Sets when `HTTPBodyReceiver.deadlinePassed` is called. It is called once or never; a later setting replaces an earlier one.
    open func setDeadline(_ deadline: Deadline) { preconditionFailure("overridden by every transport") }

    /// Sets when the body must be complete, in place of the transport's timeout; nil for no timeout, if it is a stream that the
    /// handler limits otherwise.
    open func setBodyDeadline(_ deadline: Deadline?) { preconditionFailure("overridden by every transport") }
}

/// Receives a request's body, and its end. Called on the exchange's executor. A response from here cancels the handler's
/// task.
public protocol HTTPBodyReceiver: AnyObject, Sendable {
    /// Receives bytes of the body, valid only during the call. All bytes must be passed to `HTTPExchange.consume`.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// The body has ended: successfully, with `nil`; or with malformed framing or a timeout, when the handler may still respond; or
    /// because the exchange has ended. Called once, after all bytes.
    func receiveEnd(_ failure: HTTPBodyFailure?)

    /// The deadline of the exchange has passed. The exchange is still open: the handler decides how to respond.
    func deadlinePassed()
}

/// Why a body is incomplete.
public enum HTTPBodyFailure: Error, Sendable, Hashable {
    /// Its framing is malformed (RFC 9112 section 7.1).
    case malformed
    /// It didn't arrive in time.
    case timeout
    /// The client, or the connection, ended the exchange.
    case ended
}

/// Handles requests that are not gRPC.
public protocol HTTPHandler: Sendable {
    /// A request's head has arrived. The handler responds immediately or later, and calls `handlerEnded` once when it no longer
    /// runs. Returns the receiver of the body; nil to drop the body.
    func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)?
}
