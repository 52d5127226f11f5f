import Postgres
import Synchronization
import TestWaits
import Testing

/// What others notify this program of.
@Suite(.timeLimit(.minutes(5)))
struct NotificationTests {

    @Test func `A listener is called for notifications, and again after its connection was lost`() async throws {
        try await withClient { client, _ in
            let count = Mutex(0)
            let listening = Task { await client.listen(on: "bells") { count.withLock { $0 += 1 } } }
            // Once since it is connected.
            try await eventually { count.withLock { $0 } == 1 }
            try await client.execute("SELECT pg_notify('other', '')")
            try await client.execute("SELECT pg_notify('bells', 'anything')")
            try await eventually { count.withLock { $0 } == 2 }
            let ended = try await client.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN bells'"
            )
            #expect(ended.count == 1)
            try await eventually { count.withLock { $0 } == 3 }
            try await client.execute("NOTIFY bells")
            try await eventually { count.withLock { $0 } == 4 }
            listening.cancel()
            await listening.value
            try await eventually {
                try await client.query("SELECT FROM pg_stat_activity WHERE query = 'LISTEN bells'").isEmpty
            }
        }
    }
}
