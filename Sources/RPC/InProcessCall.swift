import Synchronization

/// A call whose answer resumes the caller. Ends once: by the handler, the deadline or the caller's cancellation.
final class InProcessCall: ServerCall, @unchecked Sendable {
    // Sound because all that changes is behind the lock.
    typealias Answer = Result<[UInt8], RPCError>

    private struct State {
        var continuation: CheckedContinuation<Answer, Never>?
        var answer: Answer?
        var task: Task<Void, Never>?
    }
    private let state = Mutex(State())
    private let head: InProcessHead

    init(method: MethodDescriptor, options: CallOptions, peer: PeerInfo) {
        head = InProcessHead(options.responseMetadata)
        super.init(method: method, metadata: options.metadata, deadline: options.limit, peer: peer)
    }

    func begin(_ continuation: CheckedContinuation<Answer, Never>) {
        let early = state.withLock { state in
            if state.answer == nil { state.continuation = continuation }
            return state.answer
        }
        if let early { continuation.resume(returning: early) }
    }

    /// `trailers`: nil where the call ends otherwise than by its handler.
    func end(_ answer: Answer, trailers: Metadata? = nil, cancelling: Bool) {
        let (didEnd, continuation, task) = state.withLock { state in
            guard state.answer == nil else {
                return (false, nil as CheckedContinuation<Answer, Never>?, nil as Task<Void, Never>?)
            }
            state.answer = answer
            defer { state.continuation = nil }
            return (true, state.continuation, state.task)
        }
        if cancelling { task?.cancel() }
        guard didEnd else { return }
        head.end(trailers: trailers)
        continuation?.resume(returning: answer)
    }

    override var hasEnded: Bool { state.withLock { $0.answer != nil } }

    override func didStart(_ task: Task<Void, Never>) {
        let hasEnded = state.withLock { state in
            state.task = task
            return state.answer != nil
        }
        if hasEnded { task.cancel() }
    }

    override func sendInitialMetadata(_ metadata: Metadata) async throws(RPCError) {
        guard !hasEnded else { throw RPCError(.cancelled, "the call has ended") }
        try head.send(metadata)
    }

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        head.begin()
        end(.success(message.withUnsafeBytes(Array.init)), trailers: trailers, cancelling: false)
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        let error = error.following(trailers)
        end(.failure(error), trailers: error.metadata, cancelling: false)
    }
}
