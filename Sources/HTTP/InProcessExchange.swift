import RPC
import Synchronization

/// A response, as a client receives it.
public struct HTTPAnswer: Sendable {
    /// The status.
    public var status: Int
    /// The handler's fields of the head; a transport adds more.
    public var fields: Metadata
    /// The whole body.
    public var body: [UInt8]
    /// The trailers.
    public var trailers: Metadata
    /// Whether the handler made it the last of its connection.
    public var closesConnection = false
}

/// An exchange in this process, for tests of handlers without sockets. Its client sends the whole request, in any number of parts,
/// and collects the whole response. Handlers run on the global executor, one callback at a time.
public final class InProcessExchange: HTTPExchange, @unchecked Sendable {
    // Safe because a lock guards the variables.

    private struct State {
        var answer: HTTPAnswer?
        var isFinished = false
        var isReset = false
        var isLast = false
        var isHandled = false
        var task: Task<Void, Never>?
        var deadline: Deadline?
        var waiting: CheckedContinuation<HTTPAnswer?, Never>?
    }
    private let state = Mutex(State())

    /// Passes a request to a handler, and waits for the response and the end of the handler. Nil if the handler resets the
    /// exchange. Cancellation ends the exchange like a client that cancels.
    public static func answer(
        of handler: some HTTPHandler,
        to head: HTTPRequestHead,
        body: [UInt8] = [],
        peer: PeerInfo = PeerInfo(address: "in-process")
    ) async -> HTTPAnswer? {
        await answer(of: handler, to: head, pieces: body.isEmpty ? [] : [body], peer: peer)
    }

    /// The same with a body in parts, none of them empty. `failure`: why the body is incomplete; nil if it isn't.
    public static func answer(
        of handler: some HTTPHandler,
        to head: HTTPRequestHead,
        pieces: [[UInt8]],
        failure: HTTPBodyFailure? = nil,
        peer: PeerInfo = PeerInfo(address: "in-process")
    ) async -> HTTPAnswer? {
        var head = head
        head.hasBody = head.hasBody || !pieces.isEmpty || failure != nil
        let exchange = InProcessExchange(head: head, peer: peer)
        let receiver = handler.begin(exchange)
        return await withTaskCancellationHandler {
            if let receiver {
                for piece in pieces where !exchange.hasEnded { piece.withUnsafeBytes { receiver.receive($0) } }
                receiver.receiveEnd(failure)
            }
            let timer = exchange.startTimer(receiver)
            defer { timer?.cancel() }
            return await withCheckedContinuation { continuation in
                exchange.change { $0.waiting = continuation }
            }
        } onCancel: {
            exchange.reset()
        }
    }

    /// Calls the receiver at the deadline, if the handler set one.
    private func startTimer(_ receiver: (any HTTPBodyReceiver)?) -> Task<Void, any Error>? {
        guard let receiver, let deadline = state.withLock({ $0.deadline }) else { return nil }
        return Task {
            try await Task.sleep(for: deadline.remaining)
            if !self.hasEnded { receiver.deadlinePassed() }
        }
    }

    /// Changes the state; resumes the client when the exchange is over.
    private func change(_ body: (inout sending State) -> Void) {
        let ended = state.withLock { state -> (CheckedContinuation<HTTPAnswer?, Never>, HTTPAnswer?)? in
            body(&state)
            guard state.isHandled, state.isFinished || state.isReset, let waiting = state.waiting else { return nil }
            state.waiting = nil
            state.answer?.closesConnection = state.isLast
            return (waiting, state.isReset ? nil : state.answer)
        }
        if let (continuation, answer) = ended { continuation.resume(returning: answer) }
    }

    public override func didStart(_ task: Task<Void, Never>) {
        let isReset = state.withLock { state in
            state.task = task
            return state.isReset
        }
        if isReset { task.cancel() }
    }

    public override func handlerEnded() { change { $0.isHandled = true } }

    public override var hasEnded: Bool { state.withLock { $0.isFinished || $0.isReset } }

    public override func closeAfterAnswer() { change { $0.isLast = true } }

    public override func respond(status: Int, fields: Metadata, body: UnsafeRawBufferPointer) {
        let bytes = Array(body)
        change { state in
            guard state.answer == nil, !state.isReset else { return }
            state.answer = HTTPAnswer(status: status, fields: fields, body: bytes, trailers: Metadata())
            state.isFinished = true
        }
    }

    @discardableResult
    public override func sendHead(status: Int, fields: Metadata, contentLength: Int?) -> Bool {
        state.withLock { state in
            guard state.answer == nil, !state.isReset else { return false }
            state.answer = HTTPAnswer(status: status, fields: fields, body: [], trailers: Metadata())
            return true
        }
    }

    public override func send(_ bytes: MessageBuffer) async throws(RPCError) {
        let isOpen = state.withLock { state in
            guard state.answer != nil, !state.isFinished, !state.isReset else { return false }
            bytes.withUnsafeBytes { state.answer?.body.append(contentsOf: $0) }
            return true
        }
        guard isOpen else { throw RPCError(.cancelled, "the exchange has ended") }
    }

    public override func finish(trailers: Metadata) {
        change { state in
            guard state.answer != nil, !state.isFinished else { return }
            state.answer?.trailers = trailers
            state.isFinished = true
        }
    }

    public override func finish(with last: MessageBuffer, trailers: Metadata) {
        state.withLock { state in
            guard state.answer != nil, !state.isFinished, !state.isReset else { return }
            last.withUnsafeBytes { state.answer?.body.append(contentsOf: $0) }
        }
        finish(trailers: trailers)
    }

    public override func reset() {
        let task = state.withLock { $0.isFinished ? nil : $0.task }
        change { if !$0.isFinished { $0.isReset = true } }
        task?.cancel()
    }

    @discardableResult
    public override func consume(byteCount: Int, keeps: Bool) -> Bool { true }

    public override func release(byteCount: Int) {}

    public override func setDeadline(_ deadline: Deadline) { state.withLock { $0.deadline = deadline } }

    public override func setBodyDeadline(_ deadline: Deadline?) {}
}
