import Foundation

/// One piece of work that any number of callers wait for. A caller whose task is cancelled stops waiting; the work goes on.
final class Flight<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiters: [UUID: CheckedContinuation<Value, any Error>] = [:]
    }

    private let lock = NSLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private var state = State()

    /// Waits for the end of the work.
    ///
    /// - Throws: what the work threw, or `CancellationError`.
    func value() async throws -> Value {
        let id = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = lock.withLock { () -> Result<Value, any Error>? in
                    let result = Task.isCancelled ? .failure(CancellationError()) : state.result
                    if result == nil { state.waiters[id] = continuation }
                    return result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            lock.withLock { state.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Ends the work. Called once.
    func finish(_ result: Result<Value, any Error>) {
        let waiters = lock.withLock {
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(with: result) }
    }
}

extension Flight {
    /// Does work that goes on if its caller stops waiting.
    ///
    /// - Throws: what the work throws; `CancellationError` if the caller's task is cancelled.
    static func run(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let flight = Flight()
        Task {
            do {
                flight.finish(.success(try await body()))
            } catch {
                flight.finish(.failure(error))
            }
        }
        return try await flight.value()
    }
}
