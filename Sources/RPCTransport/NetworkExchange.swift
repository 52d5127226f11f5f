import CRPC
import HTTP
import RPC

/// An exchange on a stream of HTTP/2 or a connection of HTTP/1.x, from its head until it has ended.
///
/// States: open → answered, by `respond`, `finish` or `reset`. It may end in each of them (the client reset it or the connection
/// broke), which cancels a handler that has not answered. Once answered, or ended, whatever the handler still says is dropped.
final class NetworkExchange: HTTPExchange, @unchecked Sendable {
    // Sound because what changes is touched on the loop's thread only, which what a handler calls checks or goes to.

    private let loop: EventLoop
    private let calls: CallCounter
    /// What is counted at the end, if it carries a call.
    private var call: (row: Int, beganNanoseconds: UInt64, code: Status.Code)?
    /// Nil once it has ended.
    private var exchange: OpaquePointer?
    private var task: Task<Void, Never>?
    /// Where to say that the handler has ended; nil once that was said.
    private var handlers: OpaquePointer?
    private var isAnswered = false
    /// Receives the body and the deadline, until the exchange ends.
    private var receiver: (any HTTPBodyReceiver)?
    private var isBodyOver = false
    /// Who waits to send more.
    private var waitingWriters = WriterQueue()

    init(
        head: HTTPRequestHead,
        peer: PeerInfo,
        loop: EventLoop,
        calls: CallCounter,
        exchange: OpaquePointer,
        handlers: OpaquePointer?
    ) {
        self.loop = loop
        self.calls = calls
        self.exchange = exchange
        self.handlers = handlers
        super.init(head: head, peer: peer)
    }

    // MARK: What arrives

    /// Hands it to its handler.
    func begin(_ handler: any HTTPHandler) {
        receiver = handler.begin(self)
        if !head.hasBody { endBody(nil) }
    }

    /// Tells the receiver. If it answers in there, in the place of the handler's task, that is cancelled.
    private func tell(_ body: (any HTTPBodyReceiver) -> Void) {
        if let receiver { tell(receiver, body) }
    }

    private func tell(_ receiver: any HTTPBodyReceiver, _ body: (any HTTPBodyReceiver) -> Void) {
        let (task, wasAnswered) = (task, isAnswered)
        body(receiver)
        if isAnswered, !wasAnswered { task?.cancel() }
    }

    func receive(_ bytes: UnsafeRawBufferPointer, isLast: Bool) {
        if !bytes.isEmpty {
            if let receiver {
                tell(receiver) { $0.receive(bytes) }
            } else {
                consume(byteCount: bytes.count, keeps: false)
            }
        }
        if isLast { endBody(nil) }
    }

    func bodyBroke(_ error: Int32) { endBody(error == CRPC_ERROR_TIMEOUT.rawValue ? .timeout : .malformed) }

    private func endBody(_ failure: HTTPBodyFailure?) {
        guard !isBodyOver else { return }
        isBodyOver = true
        tell { $0.receiveEnd(failure) }
    }

    func deadlinePassed() { tell { $0.deadlinePassed() } }

    func closed() {
        exchange = nil
        endBody(.ended)
        receiver = nil
        resumeWriters()
        if !isAnswered { task?.cancel() }
        task = nil
        guard let call else { return }
        calls.count(row: call.row, call.code, tookNanoseconds: loop.nowNanoseconds &- call.beganNanoseconds)
    }

    /// There is room for more, or there never will be.
    func resumeWriters() { waitingWriters.resumeAll() }

    // MARK: What the handler does

    override var executor: (any TaskExecutor)? { loop }
    override var hasEnded: Bool { isAnswered || exchange == nil }

    override func didStart(_ task: Task<Void, Never>) {
        if !hasEnded { self.task = task }
    }

    override func handlerEnded() {
        loop.preconditionIsCurrent()
        guard let handlers else { return }
        self.handlers = nil
        reset()  // unless it was answered: nobody else will
        crpc_handler_ended(handlers)
    }

    /// Says that nothing follows from the handler, and gives the exchange if it is there.
    private func answer() -> OpaquePointer? {
        loop.preconditionIsCurrent()
        guard let exchange, !isAnswered else { return nil }
        isAnswered = true
        task = nil
        resumeWriters()
        return exchange
    }

    override func closeAfterAnswer() {
        loop.preconditionIsCurrent()
        if let exchange, !isAnswered { crpc_exchange_set_last(exchange) }
    }

    override func respond(status: Int, fields: Metadata, body: UnsafeRawBufferPointer) {
        guard let exchange = answer() else { return }
        let code = fields.packed.withUnsafeBufferPointer { fields in
            crpc_exchange_respond(
                exchange,
                UInt32(clamping: status),
                fields.baseAddress,
                fields.count,
                body.baseAddress?.assumingMemoryBound(to: UInt8.self),
                body.count
            )
        }
        // A field that may not be sent is a fault of ours. Other failures end the exchange by themselves.
        if code == CRPC_ERROR_ARGUMENT.rawValue, crpc_exchange_respond(exchange, 500, nil, 0, nil, 0) != 0 {
            crpc_exchange_reset(exchange)
        }
    }

    @discardableResult
    override func sendHead(status: Int, fields: Metadata, contentLength: Int?) -> Bool {
        loop.preconditionIsCurrent()
        guard let exchange, !isAnswered else { return false }
        return fields.packed.withUnsafeBufferPointer { fields in
            crpc_exchange_send_head(
                exchange,
                UInt32(clamping: status),
                fields.baseAddress,
                fields.count,
                contentLength.map(Int64.init) ?? -1
            )
        } == 0
    }

    override func send(_ bytes: MessageBuffer) async throws(RPCError) {
        while true {
            let outcome =
                loop.isCurrent  // nothing suspends while there is room
                ? queue(bytes)
                : await withUnsafeContinuation { continuation in
                    loop.execute { continuation.resume(returning: self.queue(bytes)) }
                }
            switch outcome {
            case .sent: return
            case .sentAndFull: return try await waitForRoom()
            case .noRoom: try await waitForRoom()
            case .ended: throw RPCError(.cancelled, "the exchange has ended")
            }
        }
    }

    private enum Queued { case sent, sentAndFull, noRoom, ended }

    private func queue(_ bytes: MessageBuffer) -> Queued {
        guard let exchange, !isAnswered else { return .ended }
        // There is none for a writer that stopped waiting and writes again: what is queued stays bounded.
        guard crpc_exchange_is_writable(exchange) else { return .noRoom }
        guard crpc_exchange_send(exchange, bytes.release(), bytes.offset, bytes.count) == 0 else {
            return .ended
        }
        return crpc_exchange_is_writable(exchange) ? .sent : .sentAndFull
    }

    private func waitForRoom() async throws(RPCError) {
        try await WriterWait.run(on: loop) { [self] wait in
            if let exchange, !isAnswered, !crpc_exchange_is_writable(exchange) {
                waitingWriters.append(wait)
            } else {
                wait.resume()
            }
        }
    }

    override func finish(trailers: Metadata) {
        guard let exchange = answer() else { return }
        let code = trailers.packed.withUnsafeBufferPointer { crpc_exchange_finish(exchange, $0.baseAddress, $0.count) }
        if code != 0 { crpc_exchange_reset(exchange) }
    }

    override func finish(with last: MessageBuffer, trailers: Metadata) {
        loop.preconditionIsCurrent()
        // A failure resets the exchange, whose end is reported as any other.
        if let exchange, !isAnswered { crpc_exchange_send(exchange, last.release(), last.offset, last.count) }
        finish(trailers: trailers)
    }

    override func reset() {
        guard let exchange = answer() else { return }
        crpc_exchange_reset(exchange)
    }

    @discardableResult
    override func consume(byteCount: Int, keeps: Bool) -> Bool {
        guard loop.isCurrent else {
            loop.execute { self.consume(byteCount: byteCount, keeps: keeps) }
            return true
        }
        guard let exchange else { return true }
        return crpc_exchange_consume(exchange, byteCount, keeps) == 0
    }

    override func release(byteCount: Int) {
        guard loop.isCurrent else { return loop.execute { self.release(byteCount: byteCount) } }
        if let exchange { crpc_exchange_release(exchange, byteCount) }
    }

    override func callBegan(_ method: MethodDescriptor?) {
        loop.preconditionIsCurrent()
        call = (calls.row(of: method), loop.nowNanoseconds, .cancelled)
    }

    override func callEnded(_ code: Status.Code) {
        loop.preconditionIsCurrent()
        call?.code = code
    }

    override func setDeadline(_ deadline: Deadline) {
        loop.preconditionIsCurrent()
        guard let exchange else { return }
        if crpc_exchange_set_deadline(exchange, deadline.nanoseconds) != 0 { reset() }
    }

    override func setBodyDeadline(_ deadline: Deadline?) {
        loop.preconditionIsCurrent()
        if let exchange { crpc_exchange_set_body_deadline(exchange, deadline?.nanoseconds ?? 0) }
    }
}
