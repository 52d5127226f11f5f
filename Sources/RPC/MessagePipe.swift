import Synchronization

/// The received messages of one direction of a call, on their way to the one task that reads them.
///
/// States: open, empty or with messages, perhaps with a waiting reader → ended, with what is still to be read → drained.
/// The transport delivers; the reader takes. How much lies here is bounded by the flow control of the transport, which
/// learns through `onTake` what was taken off.
public final class MessagePipe<Message: Sendable>: Sendable {
    /// Makes a message of what came.
    public typealias Unpack = @Sendable () throws(RPCError) -> Message

    private enum Content {
        case message(Message)
        case packed(Unpack)

        var result: Result<Message?, RPCError> {
            switch self {
            case .message(let message): return .success(message)
            case .packed(let unpack):
                do throws(RPCError) { return .success(try unpack()) } catch { return .failure(error) }
            }
        }
    }

    private struct State {
        var messages: [(content: Content, byteCount: Int)] = []
        /// Index of the next message; the array is emptied in one go when all were taken.
        var head = 0
        var reader: CheckedContinuation<Result<Message?, RPCError>, Never>?
        var end: Result<Message?, RPCError>?
    }
    private let state = Mutex(State())
    private let onTake: @Sendable (Int) -> Void

    /// `onTake` is called with the bytes of each message that was taken, an empty one's too, on the reader's executor.
    public init(onTake: @escaping @Sendable (Int) -> Void) { self.onTake = onTake }

    /// Hands a message over; dropped after the end.
    public func deliver(_ message: Message, byteCount: Int) { deliver(.message(message), byteCount: byteCount) }

    /// Hands over what becomes a message when it is read, so that it needs no more room before. If it becomes none, the
    /// reader gets the error.
    public func deliver(byteCount: Int, _ unpack: @escaping Unpack) {
        deliver(.packed(unpack), byteCount: byteCount)
    }

    private func deliver(_ content: Content, byteCount: Int) {
        let reader = state.withLock { state -> CheckedContinuation<Result<Message?, RPCError>, Never>? in
            guard state.end == nil else { return nil }
            guard let reader = state.reader else {
                state.messages.append((content, byteCount))
                return nil
            }
            state.reader = nil
            return reader
        }
        guard let reader else { return }
        onTake(byteCount)
        reader.resume(returning: content.result)
    }

    /// No message follows; with an error the reader gets that after what is there. Only the first end counts.
    public func end(_ error: RPCError? = nil) {
        let end: Result<Message?, RPCError> = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLock { state -> CheckedContinuation<Result<Message?, RPCError>, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end)
    }

    /// The next message, or nil after the last. One task at a time.
    func next() async throws -> Message? {
        if let taken = take() {
            if let byteCount = taken.byteCount { onTake(byteCount) }
            return try taken.outcome.result.get()
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let taken = state.withLock { state -> Taken? in
                    precondition(state.reader == nil, "the messages of a call are read by one task at a time")
                    if let taken = Self.take(from: &state) { return taken }
                    state.reader = continuation
                    return nil
                }
                guard let taken else { return }
                if let byteCount = taken.byteCount { onTake(byteCount) }
                continuation.resume(returning: taken.outcome.result)
            }
        } onCancel: {
            end(RPCError(.cancelled, "the reading task was cancelled"))
        }
        return try result.get()
    }

    /// A message or the end, as it is taken off under the lock; what is packed is unpacked outside of it.
    private enum Outcome {
        case content(Content)
        case end(Result<Message?, RPCError>)

        var result: Result<Message?, RPCError> {
            switch self {
            case .content(let content): content.result
            case .end(let result): result
            }
        }
    }
    private typealias Taken = (outcome: Outcome, byteCount: Int?)

    private func take() -> Taken? {
        state.withLock { Self.take(from: &$0) }
    }

    /// Messages taken after which their places are given back, where the reader never quite catches up.
    private static var compactedCount: Int { 1024 }

    private static func take(from state: inout State) -> Taken? {
        guard state.head < state.messages.count else { return state.end.map { (.end($0), nil) } }
        let next = state.messages[state.head]
        state.head += 1
        if state.head == state.messages.count {
            state.messages.removeAll(keepingCapacity: true)
            state.head = 0
        } else if state.head >= Self.compactedCount {
            state.messages.removeFirst(state.head)
            state.head = 0
        }
        return (.content(next.content), next.byteCount)
    }
}

/// The messages that arrive on a call, in order. One task reads them, once.
///
/// A reader that is slow makes the sender wait: the transport lets the peer send only as much as was read.
public struct MessageReader<Message: Sendable>: AsyncSequence, Sendable {
    private let pipe: MessagePipe<Message>

    /// Reads what a transport delivers to a pipe.
    public init(_ pipe: MessagePipe<Message>) { self.pipe = pipe }

    /// Goes over the messages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let pipe: MessagePipe<Message>

        /// The next message, nil after the last. Throws `RPCError` when the call ended otherwise.
        public mutating func next() async throws -> Message? { try await pipe.next() }
    }

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pipe: pipe) }
}
