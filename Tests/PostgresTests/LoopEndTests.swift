import LocalPostgres
import Postgres
import RPC
import RPCTransport
import TestDatabases
import Testing

extension ServerTests {
    /// A client whose loops end before it.
    @Suite(.timeLimit(.minutes(5)))
    struct LoopEndTests {
        @Test
        func `Statements, reads by key and transactions end with the loops, and no new ones are accepted`()
            async throws
        {
            let database = try await TestDatabase.fresh()
            let group = try EventLoopGroup(loopCount: 2, name: "end")
            let client = PostgresClient(PostgresConfiguration(database), group: group)
            let statement = Task { try await client.query("SELECT pg_sleep(20)", deadline: .after(.seconds(40))) }
            let transaction = Task {
                try await client.withTransaction(deadline: .after(.seconds(40))) { transaction in
                    _ = try await transaction.execute("SELECT pg_sleep(21)")
                }
            }
            try await database.waitUntilActive("%pg_sleep(20)%")
            try await database.waitUntilActive("%pg_sleep(21)%")
            let begin = Deadline.now()
            await group.shutdown()
            #expect(await postgresError { _ = try await statement.value } != nil)
            #expect(await postgresError { try await transaction.value } != nil)
            for _ in 0..<2 {
                let error = await postgresError { try await client.ping(deadline: .after(.seconds(40))) }
                guard case .closed = error else { throw error ?? .cancelled(outcomeUnknown: false) }
            }
            await client.shutdown()
            #expect(Deadline.now().nanoseconds - begin.nanoseconds < 15_000_000_000, "nobody waits for a deadline")
        }

        @Test func `A waiter for a connection gets an error when the loops end`() async throws {
            let group = try EventLoopGroup(loopCount: 1, name: "end")
            var configuration = PostgresConfiguration(try await TestDatabase.fresh())
            configuration.host = "/nonexistent"
            configuration.waitLimit = .seconds(40)
            let client = PostgresClient(configuration, group: group)
            let waiting = Task { try await client.ping(deadline: .after(.seconds(40))) }
            try await Task.sleep(for: .milliseconds(100))
            await group.shutdown()
            let error = await postgresError { try await waiting.value }
            guard case .closed = error else { throw error ?? .cancelled(outcomeUnknown: false) }
            let late = PostgresClient(configuration, group: group)
            let refused = await postgresError { try await late.ping() }
            guard case .closed = refused else { throw refused ?? .cancelled(outcomeUnknown: false) }
        }
    }
}
