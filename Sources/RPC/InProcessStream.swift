import Synchronization

/// A streaming call between two tasks of one process. Ends once: by the handler, the deadline, or the caller.
final class InProcessStream: ServerCall, @unchecked Sendable {
    // Sound because all that changes is behind locks.

    /// Bytes on their way in one direction before the sender waits.
    static var window: Int { 65_536 }

    /// The caller's direction.
    let requests: InProcessRequests
    /// The handler's direction.
    let answer: MessagePipe
    private let answerGate = CreditGate(limit: window)
    private let head: InProcessHead

    private struct State {
        var hasEnded = false
        var task: Task<Void, Never>?
    }
    private let state = Mutex(State())

    init(
        method: MethodDescriptor,
        options: CallOptions,
        peer: PeerInfo,
        handler: MethodHandler
    ) {
        head = InProcessHead(options.responseMetadata)
        requests = InProcessRequests(handler: handler, window: Self.window)
        let gate = answerGate
        answer = MessagePipe { gate.arrived(byteCount: $0) }
        super.init(method: method, metadata: options.metadata, deadline: options.limit, peer: peer)
    }

    /// Starts the handler, or lets the first message start it.
    func begin() { requests.begin(self) }

    /// Ends the call in the handler's place; nothing happens if it has ended.
    func end(_ error: RPCError) {
        guard let task = endOnce() else { return }
        task?.cancel()
        finishBoth(error, trailers: nil)
    }

    /// The handler's task if this ends the call, nil if it had ended.
    private func endOnce() -> Task<Void, Never>?? {
        state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return .some(state.task)
        }
    }

    private func finishBoth(_ error: RPCError?, trailers: Metadata?) {
        head.end(trailers: trailers)
        answer.end(error)
        answerGate.close()
        requests.close(error ?? RPCError(.cancelled, "the call has ended"))
    }

    override var hasEnded: Bool { state.withLock { $0.hasEnded } }

    override func didStart(_ task: Task<Void, Never>) {
        let hasEnded = state.withLock { state in
            state.task = task
            return state.hasEnded
        }
        if hasEnded { task.cancel() }
    }

    override func send(_ message: MessageBuffer) async throws(RPCError) {
        try await answerGate.waitForRoom()  // for those whose wait was cancelled before
        guard !hasEnded else { throw .ended(self) }
        answerGate.left(byteCount: message.count)
        deliver(message)
        try await answerGate.waitForRoom()
        if hasEnded { throw .ended(self) }
    }

    override func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        guard !hasEnded else { throw .ended(self) }
        try head.send(metadata)
    }

    private func deliver(_ message: MessageBuffer) {
        head.begin()
        answer.deliver(.buffer(message))
    }

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        guard endOnce() != nil else { return }
        deliver(message)
        finishBoth(nil, trailers: trailers)
    }

    override func finish(trailers: Metadata) {
        if endOnce() != nil { finishBoth(nil, trailers: trailers) }
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        guard endOnce() != nil else { return }
        let error = error.following(trailers)
        finishBoth(error, trailers: error.metadata)
    }

    override func consume(byteCount: Int) { requests.gate.arrived(byteCount: byteCount) }
}
