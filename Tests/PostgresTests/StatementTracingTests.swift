import InMemoryTracing
import Testing
import Tracing

@testable import Postgres

extension ServerTests {
    /// The spans of statements, over a real PostgreSQL.
    struct StatementTracingTests {
        private static let read = KeyedRead("name", from: "people", key: "id", keyType: .int32)

        private func withTracer(_ body: (InMemoryTracer, PostgresClient) async throws -> Void) async throws {
            let tracer = InMemoryTracer()
            try await withClient(
                bootstrapSQL: """
                    CREATE TABLE app.people (id int PRIMARY KEY, name text);
                    INSERT INTO app.people VALUES (1, 'Ana');
                    GRANT ALL ON app.people TO PUBLIC;
                    """,
                configure: { $0.tracer = tracer }
            ) { client, _ in try await body(tracer, client) }
        }

        @Test func `Each caller has a span of its own`() async throws {
            try await withTracer { tracer, client in
                try await tracer.withSpan("call") { span in
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for _ in 0..<5 { tasks.addTask { _ = try await client.row(Self.read, key: ReadKey(Int32(1))) } }
                        try await tasks.waitForAll()
                    }
                    try await client.executeTogether(
                        "UPDATE people SET name = \("secret") WHERE id = 1",
                        key: LockKey(1)
                    )
                    try await client.query("SELECT \("hidden")")
                }
                let spans = tracer.finishedSpans
                let statements = spans.filter { $0.kind == .client }
                let call = try #require(spans.first { $0.operationName == "call" })
                #expect(statements.count == 7)
                #expect(Set(statements.map(\.parentSpanID)) == [call.spanID])
                #expect(Set(statements.map(\.traceID)) == [call.traceID])
                #expect(statements.count { $0.attributes.text("db.query.text") == Self.read.text } == 5)
                #expect(Set(statements.map(\.operationName)) == ["SELECT", "UPDATE"])
                #expect(
                    statements.contains {
                        $0.attributes.text("db.query.text") == "UPDATE people SET name = $1 WHERE id = 1"
                    }
                )
                #expect(
                    statements.allSatisfy { $0.attributes.text("db.system.name") == "postgresql" && $0.status == nil }
                )
                #expect(!statements.contains { "\($0)".contains("secret") || "\($0)".contains("hidden") })
            }
        }

        @Test func `A transaction is its statements`() async throws {
            try await withTracer { tracer, client in
                try await tracer.withSpan("call") { _ in
                    _ = try await client.withTransaction { transaction in
                        try await transaction.execute("INSERT INTO people VALUES (2, 'Ben')")
                    }
                    await #expect(throws: PostgresError.self) {
                        _ = try await client.withTransaction { transaction in
                            try await transaction.execute("INSERT INTO people VALUES (\(Int32(2)), \("Cay"))")
                        }
                    }
                }
                let statements = tracer.finishedSpans.filter { $0.kind == .client }
                #expect(statements.map(\.operationName) == ["INSERT", "COMMIT", "INSERT", "ROLLBACK"])
                let failed = statements[2]
                #expect(failed.status?.code == .error && failed.attributes.text("db.response.status_code") == "23505")
                #expect(failed.attributes.text("error.type") == "23505")
                #expect(!"\(failed)".contains("Cay"), "the server's message quotes the key")
            }
        }

        @Test func `Work in no span has none`() async throws {
            try await withTracer { tracer, client in
                try await client.query("SELECT 1")
                _ = try await client.row(Self.read, key: ReadKey(Int32(1)))
                #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.isEmpty)
            }
        }

        @Test(arguments: [
            ("SELECT 1", "SELECT"), ("\n    with x AS (SELECT 1) SELECT", "WITH"), ("COMMIT", "COMMIT"),
            ("", "postgresql"),
            ("(SELECT 1)", "postgresql"), ("abcdefghijklmnopqrstuvwxyz", "postgresql"),
        ])
        func `A statement is named after its first word`(text: String, name: String) {
            #expect(StatementTracing.operation(text) == name)
        }
    }
}

extension SpanAttributes {
    fileprivate func text(_ key: String) -> String? {
        if case .string(let text) = get(key) { text } else { nil }
    }
}
