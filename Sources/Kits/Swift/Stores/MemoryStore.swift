import Foundation

/// Keeps sessions until the process ends: for tests, and for programs that sign in each time.
public actor MemoryStore: SessionStore {
    private var values: [String: Data] = [:]
    private var locked: Set<String> = []
    private var waiters: [String: [(id: UUID, continuation: CheckedContinuation<Void, any Error>)]] = [:]

    /// An empty store.
    public init() {}

    /// The value of a key; nil if there is none.
    public func read(_ key: String) -> Data? { values[key] }

    /// Replaces the value of a key, as a whole.
    public func write(_ value: Data, _ key: String) { values[key] = value }

    /// Removes the value of a key.
    public func remove(_ key: String) { values[key] = nil }

    /// Does `body` while nobody else holds the lock of a key.
    public func withLock<Result: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await take(key)
        defer { free(key) }
        return try await body()
    }

    private func take(_ key: String) async throws {
        try Task.checkCancellation()
        guard !locked.insert(key).inserted else { return }
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                waiters[key, default: []].append((id, continuation))
            }
        } onCancel: {
            Task { await self.stopWaiting(id, key) }
        }
    }

    /// Passes the lock on to the first that waits.
    private func free(_ key: String) {
        guard waiters[key]?.isEmpty == false, let next = waiters[key]?.removeFirst() else {
            locked.remove(key)
            return
        }
        next.continuation.resume()
    }

    private func stopWaiting(_ id: UUID, _ key: String) {
        guard let index = waiters[key]?.firstIndex(where: { $0.id == id }) else { return }
        waiters[key]?.remove(at: index).continuation.resume(throwing: CancellationError())
    }
}
