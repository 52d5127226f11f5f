import SwiftProtobuf
import Synchronization

/// Calls a router's handlers without a network: messages are encoded and decoded, deadlines and cancellation hold.
public final class InProcessChannel: ClientChannel {
    private let router: Router
    private let peer = PeerInfo(address: "in-process")

    /// A channel to a router.
    public init(_ router: Router) { self.router = router }

    /// Calls a unary method.
    public func unary<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ method: MethodDescriptor,
        _ request: Request,
        response: Response.Type,
        options: CallOptions
    ) async throws(RPCError) -> Response {
        guard let handler = router[method.path] else {
            throw RPCError(.unimplemented, "unknown method \(method.path)")
        }
        if let deadline = options.deadline, deadline.hasPassed {
            throw RPCError(.deadlineExceeded, "the deadline passed before the call began")
        }
        let message: MessageBuffer
        do {
            message = try MessageBuffer(encoding: request)
        } catch {
            throw RPCError(.internalError, "the request cannot be encoded", cause: error)
        }
        let call = InProcessCall(
            method: method,
            metadata: options.metadata,
            deadline: options.deadline,
            peer: peer
        )
        let timer = options.deadline.map { deadline in
            Task {
                try await Task.sleep(for: deadline.remaining)
                call.end(.failure(RPCError(.deadlineExceeded, "the deadline passed")), cancelling: true)
            }
        }
        defer { timer?.cancel() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.begin(continuation)
                message.withUnsafeBytes { handler.start(call, message: $0) }
            }
        } onCancel: {
            call.end(.failure(RPCError(.cancelled, "the call was cancelled")), cancelling: true)
        }
        do {
            return try Response(serializedBytes: answer.get())
        } catch let error as RPCError {
            throw error
        } catch {
            throw RPCError(.internalError, "the answer is not a valid message", cause: error)
        }
    }
}

/// A call whose answer resumes the caller. Ends once: by the handler, the deadline or the caller's cancellation.
private final class InProcessCall: ServerCall, @unchecked Sendable {
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
