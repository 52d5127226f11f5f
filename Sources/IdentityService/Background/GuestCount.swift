import RPC
import Synchronization

/// How many guests came in the hour that runs, as the database said some seconds ago: a challenge costs no query. Any thread.
final class GuestCount: Sendable {
    /// For how long an answer is used.
    static let knownNanoseconds: UInt64 = 5_000_000_000

    private struct State {
        var count = 0
        var askedAt: UInt64?
    }

    private let state = Mutex(State())
    private let nowNanoseconds: @Sendable () -> UInt64
    private let read: @Sendable (Deadline?) async throws -> Int

    /// A count that nothing is known of yet.
    ///
    /// - Parameters:
    ///   - nowNanoseconds: a monotonic clock.
    ///   - read: asks the database.
    init(
        nowNanoseconds: @escaping @Sendable () -> UInt64,
        read: @escaping @Sendable (Deadline?) async throws -> Int
    ) {
        self.nowNanoseconds = nowNanoseconds
        self.read = read
    }

    /// The count. One call in ``knownNanoseconds`` asks for it, and others go on with the one of before; so do all while the database doesn't
    /// answer, since a challenge needs nothing else of it.
    func current(deadline: Deadline?) async -> Int {
        let now = nowNanoseconds()
        let known: Int? = state.withLock { state in
            if let askedAt = state.askedAt, now &- askedAt < Self.knownNanoseconds { return state.count }
            state.askedAt = now
            return nil
        }
        if let known { return known }
        guard let count = try? await read(deadline) else { return state.withLock { $0.count } }
        state.withLock { $0.count = count }
        return count
    }
}
