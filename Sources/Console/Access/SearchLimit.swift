import Synchronization

/// How often an operator may search: masks hide nothing from an operator that can try all numbers.
final class SearchLimit: Sendable {
    /// Searches at once, and in a minute on end.
    static let countMax = 30
    private static let windowSeconds: Int64 = 60

    /// The times of each operator's last searches, by the clock that is never set. There are as many operators as the operators file has.
    private let times = Mutex<[String: [Int64]]>([:])

    /// Counts a search; false if there were too many.
    func take(_ name: String, now: ConsoleTime) -> Bool {
        times.withLock { times in
            var own = (times[name] ?? []).filter { now.runSeconds - $0 < Self.windowSeconds }
            defer { times[name] = own }
            guard own.count < Self.countMax else { return false }
            own.append(now.runSeconds)
            return true
        }
    }
}
