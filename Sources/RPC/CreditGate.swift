import Synchronization

/// Makes senders wait while more than `limit` bytes are on their way: flow control where no network has it.
final class CreditGate: Sendable {
    private struct State {
        var byteCount = 0
        var isClosed = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWait = 0

        func mustWait(limit: Int) -> Bool { byteCount > limit && !isClosed }
    }
    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Counts bytes that are sent.
    func left(byteCount: Int) { state.withLock { $0.byteCount += byteCount } }

    /// Counts bytes that arrived.
    func arrived(byteCount: Int) { resume { $0.byteCount -= byteCount } }

    /// Waits until no more than the limit is on its way, or the gate is closed. Throws CANCELLED if the task is cancelled
    /// while it waits.
    func waitForRoom() async throws(RPCError) {
        while state.withLock({ $0.mustWait(limit: limit) }) {
            if Task.isCancelled { throw .writerCancelled }
            await waitForChange()
        }
    }

    private func waitForChange() async {
        let id = state.withLock { state in
            state.nextWait += 1
            return state.nextWait
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A cancellation that came before finds nobody to wake; one that comes later finds this.
                    guard state.mustWait(limit: limit), !Task.isCancelled else { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Lets everyone go on to learn that the call has ended.
    func close() { resume { $0.isClosed = true } }

    private func resume(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
            change(&state)
            guard !state.mustWait(limit: limit) else { return [:] }
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }
}
