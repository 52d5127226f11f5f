/// The moment until which a call may take, waits and retries among it.
package struct Deadline: Sendable {
    private let instant: ContinuousClock.Instant

    package init(in duration: Duration) { instant = .now + duration }

    /// What is left; at least a millisecond.
    var remaining: Duration { max(.milliseconds(1), instant - .now) }

    /// Whether a pause ends before the deadline.
    func allows(_ pause: Duration) -> Bool { instant - .now > pause }

    /// Does `body`, which ends soon after its task is cancelled.
    ///
    /// - Throws: what `body` throws; ``VestibuleError`` with `TIMEOUT` if the deadline passes before; `CancellationError` if the task is
    ///   cancelled.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let result = Box<Result?>(nil)
        try await race { result.value = try await body() }
        guard let value = result.value else { throw VestibuleError.timeout }
        return value
    }

    /// Without a result, so that it is there once, and not for each type of results.
    private func race(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return true
            }
            group.addTask {
                try await Task.sleep(until: instant, clock: .continuous)
                return false
            }
            defer { group.cancelAll() }
            guard try await group.next() == true else { throw VestibuleError.timeout }
        }
    }
}
