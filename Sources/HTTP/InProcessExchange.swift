import RPC
import Synchronization

/// An answer as a client has it.
public struct HTTPAnswer: Sendable {
    /// The status.
    public var status: Int
    /// The head's fields, as the handler gave them: a transport adds more.
    public var fields: Metadata
    /// The whole body.
    public var body: [UInt8]
    /// The trailers.
    public var trailers: Metadata
    /// Whether the handler made it the last of its connection.
    public var closesConnection = false
}

/// An exchange in this process, for tests of handlers without sockets: its client sends the whole request at once and collects the
/// whole answer. Handlers run on the global executor, one callback at a time.
public final class InProcessExchange: HTTPExchange, @unchecked Sendable {
    // Sound because a lock guards what changes.

    private struct State {
        var answer: HTTPAnswer?
        var isFinished = false
        var isReset = false
        var isLast = false
        var isHandled = false
        var task: Task<Void, Never>?
        var waiting: CheckedContinuation<HTTPAnswer?, Never>?
    }
    private let state = Mutex(State())

    /// Hands a request to a handler and waits for its answer and the end of its handler. Nil if the handler resets the exchange.
    /// Cancellation ends the exchange as a client's does.
    public static func answer(
        of handler: some HTTPHandler,
        to head: HTTPRequestHead,
        body: [UInt8] = [],
        peer: PeerInfo = PeerInfo(address: "in-process")
    ) async -> HTTPAnswer? {
        var head = head
        head.hasBody = head.hasBody || !body.isEmpty
        let exchange = InProcessExchange(head: head, peer: peer)
        let receiver = handler.begin(exchange)
        return await withTaskCancellationHandler {
            if let receiver, !body.isEmpty, !exchange.hasEnded { body.withUnsafeBytes { receiver.receive($0) } }
            receiver?.receiveEnd(nil)
            return await withCheckedContinuation { continuation in
                exchange.change { $0.waiting = continuation }
            }
        } onCancel: {
            exchange.state.withLock { $0.task }?.cancel()
            exchange.reset()
        }
    }

    /// Changes the state; resumes the client where all is over.
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

    public override func didStart(_ task: Task<Void, Never>) { state.withLock { $0.task = task } }

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

    public override func reset() {
        change { if !$0.isFinished { $0.isReset = true } }
    }

    @discardableResult
    public override func consume(byteCount: Int, keeps: Bool) -> Bool { true }

    public override func setDeadline(_ deadline: Deadline) {}

    public override func setBodyDeadline(_ deadline: Deadline?) {}
}
