import Synchronization

/// The sign-ins whose code was exchanged: each has one exchange, so that a browser's cookie makes the console ask the provider once.
final class UsedAttempts: Sendable {
    /// The most that are remembered. Where there are more, the oldest is forgotten, which lets its browser ask once more: to refuse new
    /// ones would let strangers keep operators out.
    static let countMax = 4096

    private let used = Mutex<[String: Int64]>([:])

    /// Uses an attempt up; false if it was.
    ///
    /// - Parameters:
    ///   - state: of the attempt.
    ///   - now: the present.
    func use(_ state: String, now: ConsoleTime) -> Bool {
        used.withLock { used in
            guard used[state] == nil else { return false }
            if used.count >= Self.countMax, let oldest = used.min(by: { $0.value < $1.value }) {
                used[oldest.key] = nil
            }
            used[state] = now.runSeconds
            return true
        }
    }
}
