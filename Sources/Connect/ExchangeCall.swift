import HTTP
import RPC
import RPCTransport
import Synchronization

/// A call in an HTTP exchange: the common part of the protocols.
///
/// States: waiting for the request → handling → responded. If the exchange ends in any of them, the handler is cancelled; at the
/// deadline the call responds in its place. After the response, the exchange drops the handler's further output.
class ExchangeCall: ServerCall, HTTPBodyReceiver, @unchecked Sendable {
    // Safe because the variables are behind the lock, or are used only on the exchange's executor.

    /// The parts of a call. Borrowed by the initializers: a copy would count references of all parts.
    struct Request {
        let exchange: HTTPExchange
        let handler: MethodHandler
        let callProtocol: CallProtocol
        let fields: RequestFields
        /// The query of a call by GET.
        let query: GetQuery?
        /// Additional fields for the head of the response.
        let addedFields: Metadata
        let rules: CallRules
    }

    let exchange: HTTPExchange
    let handler: MethodHandler
    let rules: CallRules
    let addedFields: Metadata
    /// Whether the handler has started, or never will: no handler is started after that.
    private(set) var isStarted = false
    private let task = Mutex<Task<Void, Never>?>(nil)
    /// Used where the handler begins and ends, which never overlap.
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

    // MARK: Request

    /// Called once, when only the head has arrived.
    func begin() { if let deadline { exchange.setDeadline(deadline) } }

    func receive(_ bytes: UnsafeRawBufferPointer) { preconditionFailure("overridden") }

    func receiveEnd(_ failure: HTTPBodyFailure?) { preconditionFailure("overridden") }

    /// The call has ended before its handler: a handler that reads the request gets this error.
    func abandonRequest(_ error: RPCError) {}

    func deadlinePassed() { end(RPCError(.deadlineExceeded, "the deadline passed")) }

    /// Ends the call in the handler's place.
    func end(_ error: RPCError) {
        guard isStarted else { return refuse(error) }
        fail(error, trailers: Metadata())
        abandonRequest(error)
        task.withLock { $0 }?.cancel()
    }

    /// Ends the call because its request is invalid or incomplete: no handler starts.
    func refuse(_ error: RPCError) {
        guard !isStarted else { return }
        isStarted = true
        fail(error, trailers: Metadata())
        handlerEnded()
    }

    /// The exchange has ended before a handler started.
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

    /// The error for a request whose body failed; nil if the client is gone.
    static func error(of failure: HTTPBodyFailure) -> RPCError? {
        switch failure {
        case .malformed: RPCError(.invalidArgument, "the request's body is malformed")
        case .timeout: RPCError(.deadlineExceeded, "the request did not come in time")
        case .ended: nil
        }
    }

    static let tooLarge = RPCError(.resourceExhausted, "the message is larger than the limit")
    static let holdsTooMuch = RPCError(.resourceExhausted, "the client makes the server hold too much")

    // MARK: Response

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
    /// The deadline of the call, from the protocol's field. Throws an error that ends the call if the field is malformed.
    func deadline() throws(RPCError) -> Deadline? {
        switch callProtocol.framing {
        case .connectUnary, .connectStream:
            if let query {
                guard query.version ?? "v1" == "v1" else { throw RPCError(.invalidArgument, "connect must be \"v1\"") }
            } else if fields.isVersionKnown == false {
                throw RPCError(.invalidArgument, "Connect-Protocol-Version must be \"1\"")
            }
            return try fields.connectTimeout.deadline(
                RPCError(.invalidArgument, "Connect-Timeout-Ms is not a number of at most 10 digits")
            )
        case .grpcWeb, .grpcWebText:
            // The same error as over gRPC.
            return try fields.grpcTimeout.deadline(RPCError(.internalError, "grpc-timeout is malformed"))
        }
    }

    /// The compression of messages, from the protocol's fields. Throws UNIMPLEMENTED.
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
