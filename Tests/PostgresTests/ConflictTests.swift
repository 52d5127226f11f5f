import Postgres
import RPC
import TestDatabases
import Testing

extension ServerTests {
    /// What is undone by 40001 or 40P01 is done again, and has its effect once.
    struct ConflictTests {
        private let table = """
            CREATE TABLE app.t (n bigint PRIMARY KEY, sum bigint NOT NULL); GRANT ALL ON app.t TO PUBLIC;
            INSERT INTO app.t SELECT n, 0 FROM generate_series(1, 8) AS n;
            """

        /// Adds one to a row, by each kind of write in turn, so that its sum is the number of calls.
        private func add(_ client: PostgresClient, row: Int64, calls: Int) async throws {
            for call in 0..<calls {
                let change: Query = "UPDATE t SET sum = sum + 1 WHERE n = \(row)"
                switch call % 3 {
                case 0: try await client.execute(change)
                case 1: try await client.executeTogether(change, key: LockKey(row))
                default:
                    try await client.withTransaction { transaction in
                        let sum = try await transaction.query("SELECT sum FROM t WHERE n = \(row)")[0]
                            .decode(0, as: Int64.self)
                        try await transaction.execute("UPDATE t SET sum = \(sum + 1) WHERE n = \(row)")
                    }
                }
                _ = try await client.query("SELECT sum FROM t WHERE n = \(row)")
            }
        }

        private func sums(_ client: PostgresClient) async throws -> [Int64] {
            try await client.query("SELECT sum FROM t WHERE sum > 0 ORDER BY n").map {
                try $0.decode(0, as: Int64.self)
            }
        }

        @Test func `A distributed database's conflicts are repeated until each write is done once`() async throws {
            try await withClient(
                loopCount: 2,
                bootstrapSQL: table,
                configure: { configuration in
                    configuration.engine = .distributed
                    configuration.injectedConflicts = 0.2
                    configuration.queryTimeout = .seconds(60)
                }
            ) { client, _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // Two at each row, so that there are real conflicts as well.
                    for worker in 0..<8 {
                        group.addTask { try await add(client, row: Int64(worker / 2 + 1), calls: 30) }
                    }
                    try await group.waitForAll()
                }
                #expect(try await sums(client) == [60, 60, 60, 60])
            }
        }

        @Test func `Each statement and transaction is serializable`() async throws {
            try await withClient(bootstrapSQL: table, configure: { $0.engine = .distributed }) { client, _ in
                let shown: Query = "SELECT current_setting('transaction_isolation')"
                #expect(try await client.query(shown)[0].decode(0, as: String.self) == "serializable")
                let inside = try await client.withTransaction { transaction in
                    try await transaction.query(shown)[0].decode(0, as: String.self)
                }
                #expect(inside == "serializable")
            }
        }

        @Test func `Where every statement meets a conflict, the deadline ends it`() async throws {
            try await withClient(
                bootstrapSQL: table,
                configure: { configuration in
                    configuration.engine = .distributed
                    configuration.injectedConflicts = 1
                }
            ) { client, _ in
                let error = await postgresError {
                    try await client.execute("UPDATE t SET sum = 1", deadline: .after(.milliseconds(300)))
                }
                let isConflictOrTimeout: Bool =
                    switch error {
                    case .timeout: true
                    case .some(let error): error.isRetryableConflict
                    case nil: false
                    }
                #expect(isConflictOrTimeout, "\(String(describing: error))")
            }
        }
    }
}
