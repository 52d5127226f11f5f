import RPC
import Synchronization

/// Clients that can't be reached at the moment. Their other logouts wait without a try, so that they don't take the room of those of
/// clients that respond. Any thread.
final class SilentClients: Sendable {
    /// How long a client isn't asked after it could not be reached.
    static let pause: Duration = .seconds(15)

    private let until = Mutex<[String: Deadline]>([:])

    /// How much longer a client isn't asked; nil if it may be.
    func pause(of clientID: String) -> Duration? {
        until.withLock { until in
            guard let end = until[clientID] else { return nil }
            let remaining = end.remaining
            if remaining > .zero { return remaining }
            until[clientID] = nil
            return nil
        }
    }

    /// Remembers a client that could not be reached: at most as many as there are clients in the file.
    func add(_ clientID: String) { until.withLock { $0[clientID] = .after(Self.pause) } }
}
