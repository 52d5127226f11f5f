import Synchronization

/// The sign-ins whose code was exchanged: each has one exchange, so that a browser's cookie makes the console ask the provider once.
final class UsedAttempts: Sendable {
    /// The most that are remembered. Where there are more at once, no more are let through.
    static let countMax = 4096

    private let used = Mutex<[String: Int64]>([:])

    /// Uses an attempt up; false if it was, or if there are too many.
    ///
    /// - Parameters:
    ///   - state: of the attempt.
    ///   - nowSeconds: in Unix seconds.
    func use(_ state: String, nowSeconds: Int64) -> Bool {
        used.withLock { used in
            if used.count >= Self.countMax {
                used = used.filter { nowSeconds - $0.value <= SignInAttempt.secondsMax }
            }
            guard used.count < Self.countMax, used[state] == nil else { return false }
            used[state] = nowSeconds
            return true
        }
    }
}
