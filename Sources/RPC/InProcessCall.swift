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

    func begin(_ continuation: CheckedContinuation<Answer, Never>) {
        let early = state.withLock { state in
            if state.answer == nil { state.continuation = continuation }
            return state.answer
        }
        if let early { continuation.resume(returning: early) }
    }

    func end(_ answer: Answer, cancelling: Bool) {
        let (continuation, task) = state.withLock { state in
            guard state.answer == nil else {
                return (nil as CheckedContinuation<Answer, Never>?, nil as Task<Void, Never>?)
            }
            state.answer = answer
            defer { state.continuation = nil }
            return (state.continuation, state.task)
        }
        if cancelling { task?.cancel() }
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

    override func respond(_ message: MessageBuffer, trailers: Metadata) {
        end(.success(message.withUnsafeBytes(Array.init)), cancelling: false)
    }

    override func fail(_ error: RPCError, trailers: Metadata) {
        var error = error
        error.metadata.add(contentsOf: trailers)
        end(.failure(error), cancelling: false)
    }
}
