import Synchronization

/// How often an operator may search: masks hide nothing from an operator that can try all numbers.
final class SearchLimit: Sendable {
    /// Searches at once, and in a minute on end.
    static let countMax = 30
    private static let windowSeconds: Int64 = 60

    /// The times of each operator's last searches. There are as many operators as the operators file has.
    private let times = Mutex<[String: [Int64]]>([:])

    /// Counts a search; false if there were too many.
    func take(_ name: String, nowSeconds: Int64) -> Bool {
        times.withLock { times in
            var own = (times[name] ?? []).filter { abs(nowSeconds - $0) < Self.windowSeconds }
            defer { times[name] = own }
            guard own.count < Self.countMax else { return false }
            own.append(nowSeconds)
            return true
        }
    }
}
