import Foundation
import LocalPostgres
import Postgres
import RPC
import RPCTransport
import TestDatabases
import Testing

extension ServerTests {
    struct OutageTests {
        /// A cluster of the test's own, which it may kill.
        private func withCluster(_ body: (LocalCluster) async throws -> Void) async throws {
            let folder = "/tmp/vst-outage-\(UInt64.random(in: 0 ... .max))"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let cluster = try LocalCluster.start(directory: folder, settings: .volatileForTests)
            defer { cluster.stop() }
            try await body(cluster)
        }

        @Test
        func `With the server killed calls end by their deadline, and come through by themselves when it is back`()
            async throws
        {
            try await withCluster { cluster in
                try await withClient(
                    loopCount: 2,
                    cluster: cluster,
                    configure: { $0.waitLimit = .milliseconds(300) }
                ) { client, _ in
                    try await client.execute("CREATE TABLE t (n bigint)")
                    let busy = Task { await postgresError { try await client.query("SELECT pg_sleep(30)") } }
                    try await Task.sleep(for: .milliseconds(100))
                    cluster.kill()
                    let start = ContinuousClock.now
                    let error = await postgresError { try await client.execute("INSERT INTO t VALUES (1)") }
                    #expect(error?.isUnavailable == true)
                    #expect(ContinuousClock.now - start < .seconds(4), "and not the timeout of statements, 5 s")
                    #expect(await busy.value?.isUnavailable == true)
                    let read = await postgresError {
                        try await client.query("SELECT 1", deadline: .after(.milliseconds(100)))
                    }
                    guard case .unavailable = read else { throw read ?? .closed }
                    let transaction = await postgresError {
                        try await client.withTransaction { try await $0.query("SELECT 1") }
                    }
                    guard case .unavailable = transaction else { throw transaction ?? .closed }

                    try cluster.restart()
                    var reads = false
                    let limit = ContinuousClock.now + .seconds(10)
                    while !reads, ContinuousClock.now < limit {
                        reads = await postgresError { try await client.query("SELECT 1") } == nil
                    }
                    #expect(reads)
                    var back = false
                    for _ in 0..<100 where !back {
                        back = await postgresError { try await client.execute("INSERT INTO t VALUES (2)") } == nil
                    }
                    #expect(back)
                }
            }
        }

        @Test
        func `Under kills and restarts every confirmed write is there once, and none that was refused for certain`()
            async throws
        {
            try await withCluster { cluster in
                try await withClient(
                    loopCount: 2,
                    cluster: cluster,
                    configure: {
                        $0.waitLimit = .milliseconds(200)
                        $0.queryTimeout = .seconds(1)
                    }
                ) { client, database in
                    try await client.execute("CREATE TABLE t (n bigint)")
                    let deadline = ContinuousClock.now + .seconds(4)
                    let outcomes = try await withThrowingTaskGroup(of: [Int: Bool?].self) { group in
                        for worker in 0..<8 {
                            group.addTask {
                                var outcomes: [Int: Bool?] = [:]
                                var n = worker * 1_000_000
                                while ContinuousClock.now < deadline {
                                    n += 1
                                    outcomes[n] = .some(await insert(n, client))
                                }
                                return outcomes
                            }
                        }
                        for round in 0..<4 {
                            try await Task.sleep(for: .milliseconds(500))
                            if round % 2 == 0 { cluster.kill() }
                            try cluster.restart()
                        }
                        return try await group.reduce(into: [Int: Bool?]()) { $0.merge($1) { first, _ in first } }
                    }
                    let text = try cluster.runSQL(
                        "SELECT n, count(*) FROM app.t GROUP BY n;",
                        database: database.database
                    )
                    var stored: [Int: Int] = [:]
                    for line in text.split(separator: "\n") {
                        let fields = line.split(separator: "|").compactMap { Int($0) }
                        stored[fields[0]] = fields[1]
                    }
                    #expect(stored.values.allSatisfy { $0 == 1 })
                    let confirmed = outcomes.filter { $0.value == true }
                    #expect(confirmed.count > 100)
                    #expect(confirmed.keys.allSatisfy { stored[$0] == 1 })
                    #expect(outcomes.filter { $0.value == false }.keys.allSatisfy { stored[$0] == nil })
                }
            }
        }

        /// True if it was confirmed, false if it was certainly not done, nil if nobody knows.
        private func insert(_ n: Int, _ client: PostgresClient) async -> Bool? {
            do {
                let insert: Query = "INSERT INTO t VALUES (\(n))"
                if n.isMultiple(of: 2) {
                    try await client.execute(insert)
                } else {
                    try await client.executeTogether(insert, key: LockKey(Int64(n)))
                }
                return true
            } catch {
                switch error {
                case .connectionLost(outcomeUnknown: true), .timeout(outcomeUnknown: true): return nil
                default: return false
                }
            }
        }

        @Test func `A frozen server costs a call no more than its deadline`() async throws {
            try await withCluster { cluster in
                try await withClient(cluster: cluster, configure: { $0.connectionsPerLoop = 1 }) { client, database in
                    let pid = try await client.query("SELECT pg_backend_pid()")[0].decode(0, as: Int32.self)
                    #expect(kill(pid, SIGSTOP) == 0)
                    let start = ContinuousClock.now
                    let read = await postgresError {
                        try await client.query("SELECT 1", deadline: .after(.milliseconds(200)))
                    }
                    let write = await postgresError {
                        try await client.execute("CREATE TABLE x (n int)", deadline: .after(.milliseconds(200)))
                    }
                    #expect(ContinuousClock.now - start < .seconds(4), "and not the timeout of statements, 5 s")
                    guard case .timeout(false) = read else { throw read ?? .closed }
                    #expect(write == nil || write?.isUnavailable == true)
                    kill(pid, SIGCONT)
                    try await client.query("SELECT 1")
                    let left = try cluster.runSQL(
                        "SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid) AND usename = '\(database.user)';"
                    )
                    #expect(left == "0" || left == "1")
                }
            }
        }

        @Test
        func `A slow statement gets its timeout, its neighbours their answers, and the server stops working on it`()
            async throws
        {
            try await withClient(configure: { $0.connectionsPerLoop = 2 }) { client, database in
                try await client.query("SELECT 1")
                let slow = Task {
                    await postgresError { try await client.query("SELECT pg_sleep(60)", deadline: .after(.seconds(9))) }
                }
                try await database.waitUntilActive("%pg_sleep(60)%")
                let start = ContinuousClock.now
                for n in 0..<20 { #expect(try await client.query("SELECT \(n)")[0].decode(0, as: Int.self) == n) }
                #expect(ContinuousClock.now - start < .seconds(8))
                guard case .timeout(false) = await slow.value else {
                    Issue.record("no timeout")
                    return
                }
                var running = "1"
                for _ in 0..<40 where running != "0" {
                    try await Task.sleep(for: .milliseconds(100))
                    running = try database.cluster.runSQL(
                        "SELECT count(*) FROM pg_stat_activity WHERE usename = '\(database.user)' AND query LIKE '%pg_sleep(60)%' AND state = 'active';"
                    )
                }
                #expect(running == "0")
            }
        }

        @Test func `A slow read in the midst of a turn's reads holds up none of them for long`() async throws {
            try await withClient(configure: { $0.connectionsPerLoop = 3 }) { client, _ in
                try await client.query("SELECT 1")
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for n in 0..<60 {
                        group.addTask {
                            if n == 30 {
                                try await client.query("SELECT pg_sleep(4)")
                            } else {
                                #expect(try await client.query("SELECT \(n)")[0].decode(0, as: Int.self) == n)
                            }
                            return n
                        }
                    }
                    // In the order in which they end.
                    var last: Int?
                    for try await n in group { last = n }
                    #expect(last == 30)
                }
            }
        }

        @Test func `A slow write's timeout says that its outcome is unknown`() async throws {
            try await withClient { client, _ in
                let error = await postgresError {
                    try await client.execute("SELECT pg_sleep(5)", deadline: .after(.milliseconds(100)))
                }
                guard case .timeout(true) = error else { throw error ?? .closed }
                try await client.query("SELECT 1")
            }
        }

        @Test func `A wrong password and a missing database are unavailability with a reason`() async throws {
            for change: @Sendable (inout PostgresConfiguration) -> Void in [
                { $0.password = "wrong" }, { $0.database = "nowhere" },
            ] {
                try await withClient(configure: {
                    change(&$0)
                    $0.waitLimit = .milliseconds(200)
                }) { client, _ in
                    let error = await postgresError { try await client.ping() }
                    guard case .unavailable(let reason) = error else { throw error ?? .closed }
                    #expect(!reason.isEmpty)
                }
            }
        }

        @Test
        func `Shutdown waits for what is under way and refuses the rest; a client forgotten without it does no harm`()
            async throws
        {
            let database = try await TestDatabase.fresh()
            let group = try EventLoopGroup(loopCount: 2, name: "test")
            let client = PostgresClient(PostgresConfiguration(database), group: group)
            let running = Task { try await client.query("SELECT pg_sleep(1)") }
            try await database.waitUntilActive("%pg_sleep(1)%")
            await client.shutdown()
            #expect(try await running.value.count == 1)
            let error = await postgresError { try await client.query("SELECT 1") }
            guard case .closed = error else { throw error ?? .closed }

            var forgotten: PostgresClient? = PostgresClient(PostgresConfiguration(database), group: group)
            try await forgotten?.ping()
            forgotten = nil
            try await Task.sleep(for: .milliseconds(100))
            let sessions = try database.cluster.runSQL(
                "SELECT count(*) FROM pg_stat_activity WHERE usename = '\(database.user)';"
            )
            #expect(sessions == "0")
            await group.shutdown()
        }
    }
}
