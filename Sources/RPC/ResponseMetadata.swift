import Synchronization

/// Receives the metadata that a server sends with its answer. A caller who wants it makes one, puts it into the `CallOptions`
/// of one call, and reads it during the call or after. Any thread.
///
/// States: nothing → the head came (`initial`) → ended, with `trailing` if the server said how the call ended. A call
/// that the transport tries again begins anew.
public final class ResponseMetadata: Sendable {
    private struct State {
        var initial: Metadata?
        var trailing: Metadata?
        var hasEnded = false
        var isCompressed = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWait = 0

        var isOver: Bool { initial != nil || hasEnded }
    }
    private let state = Mutex(State())

    /// Nothing has come yet.
    public init() {}

    /// The initial metadata, which precedes the first message. Nil before it came, and if the server sent trailers only.
    public var initial: Metadata? { state.withLock { $0.initial } }

    /// The trailing metadata. Nil until the call has ended, and if it was not the server that ended it. For an error it is the
    /// same as `RPCError.metadata`.
    public var trailing: Metadata? { state.withLock { $0.trailing } }

    /// Whether a message of the answer came compressed.
    public var isCompressed: Bool { state.withLock { $0.isCompressed } }

    /// Waits for the initial metadata. Nil if the call ended without it, or the task was cancelled. To be called during
    /// a call: outside a call only cancellation ends the wait.
    public func waitForInitial() async -> Metadata? {
        let id = state.withLock { state in
            state.nextWait += 1
            return state.nextWait
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A cancellation that came before finds nobody to wake; one that comes later finds this.
                    guard !state.isOver, !Task.isCancelled else { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
        return initial
    }

    /// The transport received the head.
    public func receiveInitial(_ metadata: Metadata) { resume { $0.initial = metadata } }

    /// The transport received a compressed message.
    public func receiveCompressed() { state.withLock { $0.isCompressed = true } }

    /// The transport received how the server ended the call.
    public func receiveTrailing(_ metadata: Metadata) { state.withLock { $0.trailing = metadata } }

    /// The call has ended, and with it every wait.
    public func receiveEnd() { resume { $0.hasEnded = true } }

    private func resume(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }
}
