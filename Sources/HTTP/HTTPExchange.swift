import RPC

/// One request and its answer: a stream of HTTP/2, or a turn of a connection of HTTP/1.x. Transports subclass it.
///
/// What is constant may be read anywhere. Everything else runs where the transport says, for network transports on the event
/// loop of the connection, but for what says that it runs on any executor.
///
/// An answer is either `respond`, or `sendHead`, `send`…, `finish`. What is asked of an exchange that has ended is ignored.
open class HTTPExchange: @unchecked Sendable {
    // Sound because its stored properties are constants.

    /// The request's head.
    public final let head: HTTPRequestHead
    /// The other end of the connection.
    public final let peer: PeerInfo

    /// Describes an exchange.
    public init(head: HTTPRequestHead, peer: PeerInfo) {
        self.head = head
        self.peer = peer
    }

    /// The executor that the handler's task prefers; nil for the global one.
    open var executor: (any TaskExecutor)? { nil }

    /// Keeps the handler's task so that it is cancelled when the exchange ends before its answer. Not called if the handler has
    /// ended before its first suspension.
    open func didStart(_ task: Task<Void, Never>) {}

    /// Called once for each `HTTPHandler.begin`: when nothing runs for the exchange any more.
    open func handlerEnded() {}

    /// Whether the answer was finished, or the exchange has ended in another way.
    open var hasEnded: Bool { preconditionFailure("overridden by every transport") }

    /// Makes the answer, which was not begun yet, the last of its connection: on HTTP/1.x it says Connection: close, and what
    /// follows of the request is not waited for. Nothing on HTTP/2, whose streams end by themselves.
    open func closeAfterAnswer() {}

    /// Sends the whole answer. The transport adds Date, Content-Length and what belongs to the connection, and leaves the body
    /// out where HTTP has none (HEAD, 204, 304). Nothing of `fields` and `body` is kept.
    open func respond(status: Int, fields: Metadata, body: UnsafeRawBufferPointer) {
        preconditionFailure("overridden by every transport")
    }

    /// Sends the head of an answer whose body follows, of a length that is told or not. False if the exchange has ended, a head
    /// was sent, or a field may not be.
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

    /// Ends the answer. HTTP/2 sends trailers; HTTP/1.1 where the client takes them, else they are dropped.
    open func finish(trailers: Metadata) { preconditionFailure("overridden by every transport") }

    /// Ends the answer with a last piece of its body, which is queued whatever is queued already. Then as `finish(trailers:)`.
    open func finish(with last: MessageBuffer, trailers: Metadata) {
        preconditionFailure("overridden by every transport")
    }

    /// Ends the exchange without the rest of its answer: the stream, or the connection.
    open func reset() { preconditionFailure("overridden by every transport") }

    /// Says that bytes of the body were taken off, so that the client may send more. `keeps`: they stay in memory until the
    /// exchange ends, and are counted as the client's until then. False if the client makes us hold too much already, which is
    /// known only where the exchange runs. Any executor.
    @discardableResult
    open func consume(byteCount: Int, keeps: Bool) -> Bool { preconditionFailure("overridden by every transport") }

    /// Says that bytes which `consume` was told to count are not kept any more. Any executor.
    open func release(byteCount: Int) { preconditionFailure("overridden by every transport") }

    /// Says that the exchange carries a call, for the statistics of calls; nil for one of a method that there is not. Where it
    /// ends before `callEnded` it counts as CANCELLED. The default does nothing.
    open func callBegan(_ method: MethodDescriptor?) {}

    /// Says what the call is answered with. The default does nothing.
    open func callEnded(_ code: Status.Code) {}

    /// When `HTTPBodyReceiver.deadlinePassed` is called. Once or never; a later setting replaces an earlier one.
    open func setDeadline(_ deadline: Deadline) { preconditionFailure("overridden by every transport") }

    /// When the body must be whole, in the place of the transport's bound; nil for no such moment, where it is a stream that the
    /// handler bounds otherwise.
    open func setBodyDeadline(_ deadline: Deadline?) { preconditionFailure("overridden by every transport") }
}

/// Takes a request's body, and what else happens to it. Called where its exchange runs. An answer that is given in here, in the
/// place of the handler's task, cancels that.
public protocol HTTPBodyReceiver: AnyObject, Sendable {
    /// Bytes of the body, valid during the call only. Each owes `HTTPExchange.consume`.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// The body has ended: well, with `nil`; or it broke its framing or did not come in time, and may still be answered; or the
    /// exchange has ended before it did. Once, and nothing is received after it.
    func receiveEnd(_ failure: HTTPBodyFailure?)

    /// The deadline of the exchange has passed. It is open still: the handler answers as it sees fit.
    func deadlinePassed()
}

/// Why a body came to no good end.
public enum HTTPBodyFailure: Error, Sendable, Hashable {
    /// It broke the rules of its framing (RFC 9112 section 7.1).
    case malformed
    /// It did not come in time.
    case timeout
    /// The client, or the connection, ended the exchange.
    case ended
}

/// Answers requests: what a server hands the exchanges to that are no gRPC.
public protocol HTTPHandler: Sendable {
    /// A request's head came. The handler answers at once or later, and says `handlerEnded` once when nothing of it runs any
    /// more. Returns what takes the body; nil where nobody will ask for it, and then it is dropped.
    func begin(_ exchange: HTTPExchange) -> (any HTTPBodyReceiver)?
}
