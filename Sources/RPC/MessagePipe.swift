import Synchronization

/// The received messages of one direction of a call, on their way to the one task that reads them.
///
/// States: open, empty or with messages, perhaps with a waiting reader → ended, with what is still to be read → drained.
/// The transport delivers; the reader takes. How much lies here is bounded by the flow control of the transport, which
/// learns through `onTake` what was taken off. Not generic, so that nothing here looks up a type for each message: what
/// the messages are is known to the reader alone.
public final class MessagePipe: Sendable {
    private typealias Outcome = Result<ReceivedMessage?, RPCError>

    private struct State {
        var messages: [ReceivedMessage] = []
        /// Index of the next message; the array is emptied in one go when all were taken.
        var head = 0
        var reader: CheckedContinuation<Outcome, Never>?
        var end: Outcome?
    }
    private let state = Mutex(State())
    private let onTake: @Sendable (Int) -> Void

    /// `onTake` is called with the byte count of each message that was taken, 0 for an empty one.
    public init(onTake: @escaping @Sendable (Int) -> Void) { self.onTake = onTake }

    /// Hands a message over; dropped after the end.
    public func deliver(_ message: ReceivedMessage) {
        let reader = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.end == nil else { return nil }
            guard let reader = state.reader else {
                state.messages.append(message)
                return nil
            }
            state.reader = nil
            return reader
        }
        guard let reader else { return }
        onTake(message.byteCount)
        reader.resume(returning: .success(message))
    }

    /// No message follows; with an error the reader gets that after what is there. Only the first end counts.
    public func end(_ error: RPCError? = nil) {
        let end: Outcome = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end)
    }

    /// Nobody needs what is there any more: it is dropped, also after an end, and the reader gets the error.
    public func abandon(_ error: RPCError) {
        let (dropped, reader) = state.withLock { state in
            let dropped = state.messages
            state.messages = []
            state.head = 0
            if state.end == nil || !dropped.isEmpty { state.end = .failure(error) }
            defer { state.reader = nil }
            return (dropped, state.reader)
        }
        _ = consume dropped  // freed here, without the lock
        reader?.resume(returning: .failure(error))
    }

    /// The next message, or nil after the last. One task at a time.
    public func next() async throws(RPCError) -> ReceivedMessage? {
        if let taken = state.withLock({ Self.take(from: &$0) }) { return try passOn(taken).get() }
        let outcome: Outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let taken = state.withLock { state -> Outcome? in
                    precondition(state.reader == nil, "the messages of a call are read by one task at a time")
                    if let taken = Self.take(from: &state) { return taken }
                    state.reader = continuation
                    return nil
                }
                if let taken { continuation.resume(returning: passOn(taken)) }
            }
        } onCancel: {
            end(RPCError(.cancelled, "the reading task was cancelled"))
        }
        return try outcome.get()
    }

    /// Says what was taken off.
    private func passOn(_ taken: Outcome) -> Outcome {
        if case .success(.some(let message)) = taken { onTake(message.byteCount) }
        return taken
    }

    /// Places that are kept while a pipe is empty.
    private static var keptCount: Int { 64 }
    /// Messages taken after which their places are given back, where the reader never quite catches up.
    private static var compactedCount: Int { 1024 }

    private static func take(from state: inout State) -> Outcome? {
        guard state.head < state.messages.count else { return state.end }
        let next = state.messages[state.head]
        state.messages[state.head] = .bytes([])  // the reader has it alone from here on
        state.head += 1
        if state.head == state.messages.count {
            // After a crowd its places are given back; between a few messages they are kept.
            state.messages.removeAll(keepingCapacity: state.head <= Self.keptCount)
            state.head = 0
        } else if state.head >= Self.compactedCount {
            state.messages.removeFirst(state.head)
            state.head = 0
        }
        return .success(next)
    }
}
