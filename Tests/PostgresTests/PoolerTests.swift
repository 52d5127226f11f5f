import Postgres
import RPC
import RPCTransport
import Synchronization
import TestDatabases
import TestWaits
import Testing

extension ServerTests {
    /// What holds behind PgBouncer, in each of its modes.
    struct PoolerTests {
        private static let tables = "CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)"

        @Test(.timeLimit(.minutes(5)), arguments: [PostgresPooler.session, .transaction])
        func `Reads, writes and transactions work behind a pooler, with the settings that they rely on`(
            mode: PostgresPooler
        ) async throws {
            // In transaction mode two clients with eight connections share two sessions.
            try await PgBouncer.run(mode: mode.rawValue, sessions: mode == .transaction ? 2 : 20) { bouncer in
                var configuration = bouncer.configuration(mode)
                configuration.lockTimeout = .milliseconds(1234)
                try await withClient(configuration) { client, _ in
                    try await client.execute("\(unsafeSQL: Self.tables)")
                    try await client.execute("INSERT INTO counters SELECT n, 0 FROM generate_series(1, 50) n")
                    try await withClient(configuration) { other, _ in
                        for client in [client, other] {
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for id in 1...50 {
                                    group.addTask { try await Self.use(client, id) }
                                }
                                try await group.waitForAll()
                            }
                        }
                    }
                    let sum = try await client.query("SELECT sum(n)::int FROM counters")
                    #expect(try sum[0].decode(0, as: Int32.self) == 50 * 2 * 3)
                    let settings = try await client.query(
                        "SELECT current_setting('lock_timeout'), current_setting('jit')"
                    )
                    #expect(try settings[0].decode(String.self, String.self) == ("1234ms", "off"))
                }
            }
        }

        /// Adds three to a counter, in three ways.
        private static func use(_ client: PostgresClient, _ id: Int) async throws {
            let row = Int32(id)
            try await client.execute("UPDATE counters SET n = n + 1 WHERE id = \(row)")
            try await client.executeTogether("UPDATE counters SET n = n + 1 WHERE id = \(row)", key: LockKey(Int64(id)))
            let n = try await client.withTransaction(retries: 10) { transaction in
                try await transaction.execute("UPDATE counters SET n = n + 1 WHERE id = \(row)")
                return try await transaction.query("SELECT n FROM counters WHERE id = \(row)")[0].decode(
                    0,
                    as: Int32.self
                )
            }
            #expect(n >= 3)
            #expect(
                try await client.query("SELECT n FROM counters WHERE id = \(row)")[0].decode(0, as: Int32.self) == n
            )
        }

        @Test(.timeLimit(.minutes(5)))
        func `In transaction mode nothing is left in a session`() async throws {
            try await PgBouncer.run(mode: "transaction", sessions: 1) { bouncer in
                var configuration = bouncer.configuration(.transaction)
                configuration.searchPath = "pg_temp"
                try await withClient(configuration) { client, _ in
                    try await client.query("SELECT 1")
                    _ = try await client.withTransaction { try await $0.query("SELECT 2") }
                }
                // The pooler's only session, seen by a client that needs another path, and by one that makes no settings.
                try await withClient(bouncer.configuration(.transaction)) { client, _ in
                    let path = try await client.query("SELECT current_setting('search_path')")
                    #expect(try path[0].decode(0, as: String.self) != "pg_temp")
                }
                let left = try await AdministrativeSession(bouncer.configuration(.session)).run(
                    "SELECT count(*) FROM pg_prepared_statements UNION ALL SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
                )
                #expect(left == [["0"], ["0"]])
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: ["session", "transaction"])
        func `A pooler that isn't named is refused, with words that name the setting`(mode: String) async throws {
            try await PgBouncer.run(mode: mode, sessions: 2) { bouncer in
                try await withClient(bouncer.configuration(.none)) { client, _ in
                    let error = await postgresError { try await client.query("SELECT 1") }
                    #expect("\(error.map { "\($0)" } ?? "")".contains("VESTIBULE_DATABASE_POOLER"))
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A pooler in transaction mode that is said to keep sessions never runs another connection's statement`()
            async throws
        {
            try await PgBouncer.run(mode: "transaction", sessions: 2) { bouncer in
                let reasons = Mutex<[String]>([])
                var configuration = bouncer.configuration(.session)
                configuration.onConnectionFailure = { reason in reasons.withLock { $0.append(reason) } }
                try await withClient(configuration) { client, _ in
                    try await withClient(bouncer.configuration(.session)) { other, _ in
                        #expect(try await client.query("SELECT 'ours'")[0].decode(0, as: String.self) == "ours")
                        // Another connection has the session in which that was prepared, so that ours gets the other one.
                        try await other.withTransaction { transaction in
                            try await transaction.query("SELECT 'theirs'")
                            let answer = try? await client.query("SELECT 'ours'")
                            let text = try answer?[0].decode(0, as: String.self)
                            #expect(text ?? "ours" == "ours")
                        }
                    }
                }
                #expect(reasons.withLock { $0 }.contains { $0.contains("isn't in session mode") })
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [PostgresPooler.session, .transaction])
        func `Notifications come by a session of one's own, if there is one`(mode: PostgresPooler) async throws {
            try await PgBouncer.run(mode: mode.rawValue, sessions: 4) { bouncer in
                for isDirect in mode == .session ? [false, true] : [true] {
                    var configuration = bouncer.configuration(mode)
                    if isDirect { configuration.direct = bouncer.direct }
                    try await withClient(configuration) { client, _ in
                        let count = Mutex(0)
                        let listening = Task { await client.listen(on: "bells") { count.withLock { $0 += 1 } } }
                        try await eventually { count.withLock { $0 } == 1 }
                        try await client.execute("SELECT pg_notify('bells', '')")
                        try await eventually { count.withLock { $0 } == 2 }
                        listening.cancel()
                        await listening.value
                    }
                }
                guard mode == .transaction else { return }
                try await withClient(bouncer.configuration(mode)) { client, _ in
                    let listening = Task { await client.listen(on: "bells") {} }
                    try await client.query("SELECT 1")
                    #expect(try await client.query("SELECT FROM pg_stat_activity WHERE query = 'LISTEN bells'").isEmpty)
                    listening.cancel()
                    await listening.value
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `Migrations take a session of their own, and are refused where there is none`() async throws {
            let migrations = [Migration(number: 1, name: "counters", sql: Self.tables)]
            try await PgBouncer.run(mode: "transaction", sessions: 2) { bouncer in
                var configuration = bouncer.ownerConfiguration(.transaction)
                let refused = configuration
                let error = await migrationError { try await Migrator(refused).run(migrations, schema: "app") }
                #expect(error == .needsSession)
                configuration.direct = bouncer.direct
                let outcome = try await Migrator(configuration).run(migrations, schema: "app")
                #expect(outcome.applied == [1])
            }
            try await PgBouncer.run(mode: "session", sessions: 2) { bouncer in
                let outcome = try await Migrator(bouncer.ownerConfiguration(.session)).run(migrations, schema: "app")
                #expect(outcome.applied == [1])
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A statement of a transaction that was cancelled ends behind a pooler, and the connection goes on`()
            async throws
        {
            try await PgBouncer.run(mode: "transaction", sessions: 1) { bouncer in
                try await withClient(bouncer.configuration(.transaction)) { client, _ in
                    let slow = Task {
                        try await client.withTransaction { try await $0.query("SELECT pg_sleep(60)") }
                    }
                    try await Task.sleep(for: .milliseconds(300))
                    slow.cancel()
                    _ = await slow.result
                    // The only session is free again long before the minute is over.
                    #expect(try await client.query("SELECT 7")[0].decode(0, as: Int32.self) == 7)
                }
            }
        }
    }
}
