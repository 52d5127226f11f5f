import Postgres
import Synchronization
import Testing

/// What others notify this program of.
@Suite(.timeLimit(.minutes(1)))
struct NotificationTests {
    private func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `A listener is called for notifications, and again after its connection was lost`() async throws {
        try await withClient { client, _ in
            let count = Mutex(0)
            let listening = Task { await client.listen(on: "bells") { count.withLock { $0 += 1 } } }
            // Once since it is connected.
            try await until { count.withLock { $0 } == 1 }
            try await client.execute("SELECT pg_notify('other', '')")
            try await client.execute("SELECT pg_notify('bells', 'anything')")
            try await until { count.withLock { $0 } == 2 }
            let ended = try await client.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN bells'"
            )
            #expect(ended.count == 1)
            try await until { count.withLock { $0 } == 3 }
            try await client.execute("NOTIFY bells")
            try await until { count.withLock { $0 } == 4 }
            listening.cancel()
            await listening.value
            try await until {
                try await client.query("SELECT FROM pg_stat_activity WHERE query = 'LISTEN bells'").isEmpty
            }
        }
    }
}
