import Synchronization

/// Makes senders wait while more than `limit` bytes are on their way: flow control where no network has it.
final class CreditGate: Sendable {
    private struct State {
        var byteCount = 0
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Counts bytes that are sent, and waits until less than the limit is on its way. Throws CANCELLED once closed.
    func send(byteCount: Int) async throws(RPCError) {
        let isFull = state.withLock { state in
            state.byteCount += byteCount
            return state.byteCount > limit && !state.isClosed
        }
        if isFull {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    guard state.byteCount > limit, !state.isClosed else { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isOpen { continuation.resume() }
            }
        }
        if state.withLock({ $0.isClosed }) { throw RPCError(.cancelled, "the call has ended") }
    }

    /// Counts bytes that arrived.
    func arrived(byteCount: Int) { resume { $0.byteCount -= byteCount } }

    /// Lets everyone go on to learn that the call has ended.
    func close() { resume { $0.isClosed = true } }

    private func resume(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            change(&state)
            guard state.byteCount <= limit || state.isClosed else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
