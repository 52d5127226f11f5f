import Postgres
import RPCTransport
import TestWaits
import Testing

extension PostgresClient {
    /// How many statements in this client's database wait for a lock. `start`: only those that begin so. Other tests have databases of
    /// their own in the same cluster, so theirs don't count.
    public func lockWaitCount(at start: String = "") async throws -> Int {
        try await query(
            """
            SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
                AND starts_with(query, \(start))
            """
        ).count
    }

    /// Waits until so many statements wait for a lock, or something else is so. It looks by a connection of its own: all of the client's
    /// may be in statements that wait, and a transaction sees the activity as it was when it first looked.
    public func waitForLockWaits(
        _ count: Int = 1,
        at start: String = "",
        orUntil isDone: () async throws -> Bool = { false }
    ) async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "watcher")
        let watcher = PostgresClient(configuration, group: group)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await eventually("no statement waits for a lock") {
                    if try await watcher.lockWaitCount(at: start) >= count { return true }
                    return try await isDone()
                }
            )
        } catch {
            result = .failure(error)
        }
        await watcher.shutdown()
        await group.shutdown()
        try result.get()
    }
}
