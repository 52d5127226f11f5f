import LocalPostgres
import Postgres
import RPC
import RPCTransport
import TestDatabases
import Testing

extension ServerTests {
    struct ClientTests {
        @Test func `Every type comes back as it was sent, at its ends and as NULL`() async throws {
            try await withClient { client, _ in
                func same<Value: PostgresCodable & Equatable & Sendable>(_ values: Value...) async throws {
                    for value in values {
                        let row = try #require(try await client.query("SELECT \(value), \(Value?.none)").first)
                        let (back, null) = try row.decode(Value.self, Value?.self)
                        #expect(back == value)
                        #expect(null == nil)
                    }
                }
                try await same(true, false)
                try await same(Int16.min, .max, 0)
                try await same(Int32.min, .max, 0)
                try await same(Int64.min, .max, 0)
                try await same(Int.min, .max, -1)
                try await same(Double.infinity, -.infinity, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude)
                try await same(Float.infinity, 0.1, -0.0)
                try await same("", "a", "Ñandú 👩‍👩‍👧 '\"\\", String(repeating: "x", count: 100_000))
                try await same([UInt8](), [0, 255, 39], [UInt8](repeating: 0, count: 70_000))
                try await same(PostgresUUID(high: .max, low: 0), PostgresUUID(high: 0, low: .max))
                try await same(
                    PostgresTimestamp(microsecondsSince1970: 0),
                    PostgresTimestamp(microsecondsSince1970: .max),
                    PostgresTimestamp(microsecondsSince1970: .min),
                    PostgresTimestamp(secondsSince1970: 1_900_000_000)
                )
                try await same([Int](), [.min, 0, .max])
                try await same(["", "a,b", "{\"}"], [String?.none, "NULL", nil].compactMap { $0 })
                try await same([String?.none, "NULL", ""])
                try await same([PostgresUUID(high: 1, low: 2)], [])
                try await same([[UInt8](), [0, 1]])
                let nan = try await client.query("SELECT \(Double.nan)")
                #expect(try nan[0].decode(0, as: Double.self).isNaN)
            }
        }

        @Test
        func `Statements are never compiled, however dear they look to a server that knows nothing of their tables`()
            async throws
        {
            try await withClient { client, _ in
                let row = try #require(try await client.query("SELECT current_setting('jit')").first)
                #expect(try row.decode(0, as: String.self) == "off")
            }
        }

        @Test
        func `Types of the server's own are read: varchar, enumerations, JSON, timestamps by their text`() async throws
        {
            try await withClient { client, _ in
                try await client.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
                let rows = try await client.query(
                    """
                    SELECT 'x'::varchar(3), \("glad")::mood, \(#"{"a": 1}"#)::jsonb, '{"b":2}'::json, 'n'::name,
                      timestamptz '2001-02-03 04:05:06.789+00', ARRAY['sad'::mood]::text[], count(*) AS number
                    """
                )
                let row = rows[0]
                let (varchar, mood, jsonb, json, name) = try row.decode(
                    String.self,
                    String.self,
                    String.self,
                    String.self,
                    String.self
                )
                #expect([varchar, mood, jsonb, json, name] == ["x", "glad", #"{"a": 1}"#, #"{"b":2}"#, "n"])
                #expect(try row.decode(5, as: PostgresTimestamp.self).microsecondsSince1970 == 981_173_106_789_000)
                #expect(try row.decode(6, as: [String].self) == ["sad"])
                #expect(try row.decode("number", as: Int.self) == 1)
                #expect(throws: PostgresError.self) { try row.decode("nothing", as: Int.self) }
                #expect(throws: PostgresError.self) { try row.decode(8, as: Int.self) }
                #expect(throws: PostgresError.self) { try row.decode(0, as: Int.self) }
            }
        }

        @Test
        func `Many concurrent statements on one connection each get their own answer, from loops and other threads`()
            async throws
        {
            try await withClient(loopCount: 2, configure: { $0.connectionsPerLoop = 1 }) { client, database in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for n in 0..<2000 {
                        group.addTask {
                            let rows = try await client.query("SELECT \(n), \("text \(n)")")
                            let (number, text) = try rows[0].decode(Int.self, String.self)
                            #expect(number == n && text == "text \(n)")
                        }
                    }
                    try await group.waitForAll()
                }
                let sessions = try database.cluster.runSQL(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tests' AND usename = '\(database.user)';"
                )
                #expect(sessions == "2")
            }
        }

        @Test func `More output than a socket takes at once is sent in parts`() async throws {
            try await withClient(configure: { $0.connectionsPerLoop = 1 }) { client, _ in
                let text = String(repeating: "0123456789", count: 200_000)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for n in 0..<12 {
                        group.addTask {
                            let rows = try await client.query("SELECT \(text), \(n)", deadline: .after(.seconds(20)))
                            #expect(try rows[0].decode(0, as: String.self).utf8.count == 2_000_000)
                            #expect(try rows[0].decode(1, as: Int.self) == n)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }

        @Test func `A statement that fails among its pipelined neighbours fails alone`() async throws {
            try await withClient(configure: { $0.connectionsPerLoop = 1 }) { client, _ in
                try await client.execute("CREATE TABLE written (n bigint PRIMARY KEY)")
                for round in 0..<5 {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for n in 0..<200 {
                            group.addTask {
                                switch n % 10 {
                                case 3:
                                    let error = await postgresError { try await client.query("SELECT 1 / \(n - n)") }
                                    #expect(error?.sqlState == SQLState("22012"))
                                case 7:
                                    let error = await postgresError {
                                        try await client.query("SELECT * FROM missing_\(unsafeSQL: "\(round)_\(n)")")
                                    }
                                    #expect(error?.sqlState == .undefinedTable)
                                case 5:
                                    try await client.execute("INSERT INTO written VALUES (\(round * 1000 + n))")
                                default:
                                    #expect(try await client.query("SELECT \(n)")[0].decode(0, as: Int.self) == n)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                #expect(try await client.query("SELECT count(*) FROM written")[0].decode(0, as: Int.self) == 100)
            }
        }

        @Test func `A statement whose preparation fails for one caller is prepared again for the next`() async throws {
            try await withClient(configure: { $0.connectionsPerLoop = 1 }) { client, _ in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            let error = await postgresError { try await client.query("SELECT * FROM later") }
                            #expect(error?.sqlState == .undefinedTable)
                        }
                        group.addTask {
                            let error = await postgresError { try await client.execute("INSERT INTO later VALUES (1)") }
                            #expect(error?.sqlState == .undefinedTable)
                        }
                    }
                }
                try await client.execute("CREATE TABLE later (n int)")
                #expect(try await client.query("SELECT * FROM later").isEmpty)
                // The prepared statement's columns are outdated now.
                try await client.execute("ALTER TABLE later ADD COLUMN m int DEFAULT 5")
                try await client.execute("INSERT INTO later VALUES (1)")
                #expect(try await client.query("SELECT * FROM later")[0].decode(1, as: Int.self) == 5)
            }
        }

        @Test func `More statements than are kept prepared give their names back`() async throws {
            try await withClient(configure: {
                $0.connectionsPerLoop = 1
                $0.statementsMax = 8
            }) { client, _ in
                for n in 0..<60 {
                    let rows = try await client.query("SELECT \(unsafeSQL: "\(n)"), \(n)")
                    #expect(try rows[0].decode(0, as: Int.self) == n)
                }
                let kept = try await client.query("SELECT count(*) FROM pg_prepared_statements")
                // One more: the names let go in a turn are given back with the next.
                #expect(try kept[0].decode(0, as: Int.self) <= 9)
            }
        }

        @Test func `Violations come with state and constraint, a deferred one from the commit`() async throws {
            try await withClient { client, _ in
                try await client.execute(
                    """
                    CREATE TABLE people (id bigint CONSTRAINT people_key PRIMARY KEY, age int CHECK (age > 0) NOT NULL,
                      twin bigint CONSTRAINT people_twin UNIQUE DEFERRABLE INITIALLY DEFERRED)
                    """
                )
                let inserted = try await client.execute("INSERT INTO people VALUES (\(1), 5, 1), (2, 6, 2)")
                #expect(inserted.affected == 2)
                let taken = await postgresError { try await client.execute("INSERT INTO people VALUES (\(1), 5, 3)") }
                #expect(taken?.isUniqueViolation(of: "people_key") == true)
                guard case .server(let fault) = taken else { throw taken ?? .closed }
                #expect(fault.table == "people" && fault.schema == "app")
                let check = await postgresError { try await client.execute("INSERT INTO people VALUES (3, -1, 3)") }
                #expect(check?.sqlState == .checkViolation && check?.constraint == "people_age_check")
                let null = await postgresError { try await client.execute("INSERT INTO people VALUES (3, NULL, 3)") }
                #expect(null?.sqlState == .notNullViolation)
                let deferred = await postgresError { try await client.execute("INSERT INTO people VALUES (3, 1, 1)") }
                #expect(deferred?.isUniqueViolation(of: "people_twin") == true)
                #expect(try await client.query("SELECT count(*) FROM people")[0].decode(0, as: Int.self) == 2)
            }
        }

        @Test func `A write called as a read is committed whatever its neighbours do`() async throws {
            try await withClient(configure: { $0.connectionsPerLoop = 1 }) { client, _ in
                try await client.execute("CREATE TABLE t (n bigint)")
                await withTaskGroup(of: Void.self) { group in
                    for n in 0..<50 {
                        group.addTask { _ = try? await client.query("INSERT INTO t VALUES (\(n)) RETURNING n") }
                        group.addTask { _ = try? await client.query("SELECT 1 / \(n - n)") }
                    }
                }
                #expect(
                    try await client.query("SELECT count(DISTINCT n), count(*) FROM t")[0].decode(0, as: Int.self) == 50
                )
                #expect(
                    try await client.query("SELECT count(DISTINCT n), count(*) FROM t")[0].decode(1, as: Int.self) == 50
                )
            }
        }

        @Test func `A value that can't be sent is refused, and COPY does no harm`() async throws {
            try await withClient { client, _ in
                let zero = await postgresError { try await client.query(Query(unsafeSQL: "SELECT 1\0, 2")) }
                guard case .invalidQuery = zero else { throw zero ?? .closed }
                let copy = await postgresError { try await client.execute("COPY (SELECT 1) TO STDOUT") }
                #expect(copy != nil)
                #expect(try await client.query("SELECT 1").count == 1)
            }
        }
    }
}
