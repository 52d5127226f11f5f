import HTTP
import RPC
import RPCTransport
import Synchronization

/// A call that an HTTP exchange carries: what the protocols have in common.
///
/// States: waiting for the request → handling → answered. The exchange may end in each of them, which cancels the handler;
/// the deadline answers in its place. Once answered, whatever the handler still says is dropped: the exchange sees to it.
class ExchangeCall: ServerCall, HTTPBodyReceiver, @unchecked Sendable {
    // Sound because what changes is behind the lock, or is touched where the exchange runs.

    /// What a call is made of. Lent to the initializers: a copy of it would count the references of all that it has.
    struct Request {
        let exchange: HTTPExchange
        let handler: MethodHandler
        let callProtocol: CallProtocol
        let fields: RequestFields
        /// Of a call by GET.
        let query: GetQuery?
        /// Added to the head of the answer.
        let addedFields: Metadata
        let rules: CallRules
    }

    let exchange: HTTPExchange
    let handler: MethodHandler
    let rules: CallRules
    let addedFields: Metadata
    /// Whether the handler has started, or never will: then it is told to nobody any more.
    private(set) var isStarted = false
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// Touched where the handler begins and ends, which is one after the other.
    private var inFlight: CallInFlight?

    init(_ request: borrowing Request, _ deadline: Deadline?) {
        exchange = request.exchange
        handler = request.handler
        rules = request.rules
        addedFields = request.addedFields
        super.init(
            method: request.handler.descriptor,
            metadata: request.fields.metadata,
            deadline: deadline,
            peer: request.exchange.peer,
            format: request.callProtocol.format
        )
    }

    // MARK: What arrives

    /// Called once, when nothing is known yet but the head.
    func begin() { if let deadline { exchange.setDeadline(deadline) } }

    func receive(_ bytes: UnsafeRawBufferPointer) { preconditionFailure("overridden") }

    func receiveEnd(_ failure: HTTPBodyFailure?) { preconditionFailure("overridden") }

    /// The call has ended before its handler did: a handler that reads the request is told why.
    func abandonRequest(_ error: RPCError) {}

    func deadlinePassed() { end(RPCError(.deadlineExceeded, "the deadline passed")) }

    /// Ends the call in the handler's place.
    func end(_ error: RPCError) {
        guard isStarted else { return refuse(error) }
        fail(error, trailers: Metadata())
        abandonRequest(error)
        task.withLock { $0 }?.cancel()
    }

    /// Ends the call for what its request is, or that it did not come: no handler starts.
    func refuse(_ error: RPCError) {
        guard !isStarted else { return }
        isStarted = true
        fail(error, trailers: Metadata())
        handlerEnded()
    }

    /// The exchange has ended and no handler has started.
    func giveUp() {
        guard !isStarted else { return }
        isStarted = true
        handlerEnded()
    }

    /// Starts the handler with the one message of the request.
    func start(_ message: UnsafeRawBufferPointer) {
        guard !isStarted else { return }
        isStarted = true
        handler.start(self, message: message)
    }

    /// Starts the handler of a stream of messages.
    func startStream() -> (any MessageReceiver)? {
        guard !isStarted else { return nil }
        isStarted = true
        return handler.begin(self)
    }

    /// What a request that came to no good end is answered with; nil where nobody is there to be answered.
    static func error(of failure: HTTPBodyFailure) -> RPCError? {
        switch failure {
        case .malformed: RPCError(.invalidArgument, "the request's body is malformed")
        case .timeout: RPCError(.deadlineExceeded, "the request did not come in time")
        case .ended: nil
        }
    }

    static let tooLarge = RPCError(.resourceExhausted, "the message is larger than the limit")
    static let holdsTooMuch = RPCError(.resourceExhausted, "the client makes the server hold too much")

    // MARK: What the handler does

    override var executor: (any TaskExecutor)? { exchange.executor }
    override var hasEnded: Bool { exchange.hasEnded }
    override var malformedMessageCode: Status.Code { .invalidArgument }

    override func handlerBegan() { inFlight = CallInFlight(self) }

    override func setRequestID(_ id: String) { inFlight?.setRequestID(id) }

    override func handlerEnded() {
        inFlight?.end()
        inFlight = nil
        exchange.handlerEnded()
    }

    override func didStart(_ task: Task<Void, Never>) {
        self.task.withLock { $0 = task }
        exchange.didStart(task)
    }
}

extension ExchangeCall.Request {
    /// When the call must have ended, as the protocol says it. Throws the error that a malformed word for it ends the call with.
    func deadline() throws(RPCError) -> Deadline? {
        switch callProtocol.framing {
        case .connectUnary, .connectStream:
            if let query {
                guard query.version ?? "v1" == "v1" else { throw RPCError(.invalidArgument, "connect must be \"v1\"") }
            } else if fields.isVersionKnown == false {
                throw RPCError(.invalidArgument, "Connect-Protocol-Version must be \"1\"")
            }
            return try fields.connectTimeout.deadline(
                RPCError(.invalidArgument, "Connect-Timeout-Ms is no number of at most 10 digits")
            )
        case .grpcWeb, .grpcWebText:
            // As gRPC's own layer.
            return try fields.grpcTimeout.deadline(RPCError(.internalError, "grpc-timeout is malformed"))
        }
    }

    /// How messages are compressed, as the protocol says it. Throws UNIMPLEMENTED.
    func compression() throws(RPCError) -> Compression {
        switch callProtocol.framing {
        case .connectUnary:
            var codings = fields.body
            if let query { codings.request = query.compression }
            return try Compression(codings)
        case .connectStream: return try Compression(fields.connect)
        case .grpcWeb, .grpcWebText: return try Compression(fields.grpc, infersAccepted: false)
        }
    }
}
