import LocalPostgres
import Logging
import RPC
import RPCTransport
import ServiceLifecycle
import TestDatabases
import TestWaits
import Testing

@testable import Postgres

extension ServerTests {
    /// The client as a service of a group, and in the closure of `withPostgresClient`.
    @Suite(.timeLimit(.minutes(5)))
    struct ServiceTests {
        private struct Thrown: Error {}

        private func withLoops(_ body: (PostgresConfiguration, TestDatabase, EventLoopGroup) async throws -> Void)
            async throws
        {
            let database = try await TestDatabase.fresh()
            try await withEventLoopGroup(loopCount: 2, name: "service") { group in
                try await body(PostgresConfiguration(database), database, group)
            }
        }

        private func services(_ client: PostgresClient) -> ServiceGroup {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return ServiceGroup(services: [client], logger: logger)
        }

        private func isClosed(_ client: PostgresClient) async -> Bool {
            guard case .closed = await postgresError({ try await client.ping() }) else { return false }
            return true
        }

        /// The end of an answer (ReadyForQuery) may arrive apart from the answer, and it finishes no statement.
        @Test(.timeLimit(.minutes(1)), arguments: ["SELECT 1", "SELECT 1 / 0"])
        func `A shutdown does not wait for the time of a statement whose answer has come`(text: String) async throws {
            try await withLoops { configuration, database, group in
                let relay = try HoldingRelay(
                    to: "\(database.socketDirectory)/.s.PGSQL.\(database.port)",
                    port: database.port
                )
                defer { relay.stop() }
                var configuration = configuration
                configuration.host = relay.folder
                configuration.queryTimeout = .seconds(600)
                let client = PostgresClient(configuration, group: group)
                _ = await postgresError { try await client.query("\(unsafeSQL: text)") }
                await client.shutdown()
            }
        }

        @Test
        func `A graceful shutdown lets the transaction under way end, and refuses what comes after`() async throws {
            try await withLoops { configuration, _, group in
                let client = PostgresClient(configuration, group: group)
                let services = services(client)
                let running = Task { try await services.run() }
                let (lines, line) = AsyncStream.makeStream(of: Void.self)
                let (holds, hold) = AsyncStream.makeStream(of: Void.self)
                let transaction = Task {
                    try await client.withTransaction { transaction in
                        try await transaction.execute("SELECT 1")
                        line.yield()
                        for await _ in holds { break }
                        return try await transaction.query("SELECT 2").count
                    }
                }
                for await _ in lines { break }
                await services.triggerGracefulShutdown()
                try await eventually { await isClosed(client) }
                hold.yield()
                #expect(try await transaction.value == 1)
                try await running.value
            }
        }

        @Test(arguments: [false, true])
        func `Cancellation closes the connections at once`(drainsFirst: Bool) async throws {
            try await withLoops { configuration, _, group in
                let client = PostgresClient(configuration, group: group)
                let services = services(client)
                let running = Task { try await services.run() }
                let (lines, line) = AsyncStream.makeStream(of: Void.self)
                let transaction = Task {
                    try await client.withTransaction(deadline: .after(.seconds(40))) { transaction in
                        try await transaction.execute("SELECT 1")
                        line.yield()
                        try await transaction.query("SELECT pg_sleep(30)")
                    }
                }
                for await _ in lines { break }
                if drainsFirst {
                    await services.triggerGracefulShutdown()
                    try await eventually { await isClosed(client) }
                }
                let begin = Deadline.now()
                running.cancel()
                _ = await running.result
                guard case .connectionLost = await postgresError({ try await transaction.value }) else {
                    throw PostgresError.closed
                }
                #expect(Deadline.now().nanoseconds - begin.nanoseconds < 4_000_000_000, "nobody waited")
                #expect(await isClosed(client))
            }
        }

        @Test func `A client runs once`() async throws {
            try await withLoops { configuration, _, group in
                let client = PostgresClient(configuration, group: group)
                let running = Task { try await client.run() }
                running.cancel()
                try await running.value
                await #expect(throws: TransportError.alreadyRun) { try await client.run() }
            }
        }

        @Test func `A client in a closure is closed when that returns, and when it throws`() async throws {
            try await withLoops { configuration, database, group in
                let returned = try await withPostgresClient(configuration, group: group) { client in
                    try await client.ping()
                    return client
                }
                #expect(await isClosed(returned))
                var thrown: PostgresClient?
                await #expect(throws: Thrown.self) {
                    try await withPostgresClient(configuration, group: group) { client in
                        try await client.ping()
                        thrown = client
                        throw Thrown()
                    }
                }
                #expect(await isClosed(try #require(thrown)))
                try await eventually("no session is left") {
                    try database.cluster.runSQL(
                        "SELECT count(*) FROM pg_stat_activity WHERE usename = '\(database.user)';"
                    ) == "0"
                }
            }
        }
    }
}
