import RPC
import Synchronization

/// Keeps clients that respond slowly, or not at all, from taking the room of those that do: each has a few requests at a time, and none for
/// a while after one has failed. Any thread.
final class SilentClients: Sendable {
    /// How long a request waits that is one too many.
    static let turn: Duration = .seconds(2)
    /// The most requests to a client at a time.
    static let atOnceMax = 3

    /// What is known of clients: at most as many as the file has.
    private struct State {
        var until: [String: Deadline] = [:]
        var running: [String: Int] = [:]
    }

    /// How long a client isn't asked after it has failed.
    private let pause: Duration
    private let state = Mutex(State())

    init(pause: Duration = .seconds(15)) { self.pause = pause }

    /// Begins a request, to be ended by ``end(_:)``; or returns how long it has to wait.
    func begin(_ clientID: String) -> Duration? {
        state.withLock { state in
            if let end = state.until[clientID] {
                let remaining = end.remaining
                if remaining > .zero { return remaining }
                state.until[clientID] = nil
            }
            let running = state.running[clientID] ?? 0
            guard running < Self.atOnceMax else { return Self.turn }
            state.running[clientID] = running + 1
            return nil
        }
    }

    /// Ends a request that was begun.
    func end(_ clientID: String) {
        state.withLock { state in
            let running = (state.running[clientID] ?? 1) - 1
            state.running[clientID] = running > 0 ? running : nil
        }
    }

    /// Remembers a client that has failed.
    func add(_ clientID: String) { state.withLock { $0.until[clientID] = .after(pause) } }
}
