import Testing

@testable import Postgres

/// Reads a value as if it stood in column 3 of a result.
private func decode<Value: PostgresDecodable>(
    _ bytes: [UInt8],
    _ type: PostgresType,
    as: Value.Type = Value.self
) throws -> Value {
    try bytes.withUnsafeBytes { buffer throws in try Value.decode(PostgresCell(bytes: buffer, type: type, column: 3)) }
}

struct ValueTests {
    @Test func `Integers widen, and refuse what doesn't fit`() throws {
        #expect(try decode([0xFF, 0xFE], .int2, as: Int.self) == -2)
        #expect(try decode([0x80, 0, 0, 0], .int4, as: Int64.self) == Int64(Int32.min))
        #expect(throws: PostgresError.self) { try decode([0, 0, 0, 1, 0, 0, 0, 0], .int8, as: Int32.self) }
        #expect(throws: PostgresError.self) { try decode([0, 0, 0, 1], .text, as: Int.self) }
        #expect(throws: PostgresError.self) { try decode([0, 0, 1], .int4, as: Int.self) }
    }

    @Test func `NULL is an error unless an optional is asked for, and names its column`() throws {
        let null = PostgresCell(bytes: nil, type: .text, column: 3)
        #expect(try Optional<String>.decode(null) == nil)
        do {
            _ = try String.decode(null)
            Issue.record("no error")
        } catch {
            guard case .decoding(let fault) = error else { throw error }
            #expect(fault.column == 3)
        }
    }

    @Test func `An array cut at any byte, or with a wrong count, is an error and no crash`() throws {
        let type = PostgresType.int4.array
        var whole: [UInt8] = []
        [Int32?.some(7), nil, -1].encode(into: &whole)
        #expect(try decode(whole, type, as: [Int32?].self) == [7, nil, -1])
        for length in 0..<whole.count {
            #expect(throws: PostgresError.self) { try decode(Array(whole[..<length]), type, as: [Int32?].self) }
        }
        for offset in [3, 12, 13, 20] {
            var wrong = whole
            wrong[offset] = 0x7F
            #expect(throws: PostgresError.self) { try decode(wrong, type, as: [Int32?].self) }
        }
    }

    @Test func `Timestamps turn over at their ends without a trap`() throws {
        for value in [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max] {
            var bytes: [UInt8] = []
            PostgresTimestamp(microsecondsSince1970: value).encode(into: &bytes)
            let back = try decode(bytes, .timestamptz, as: PostgresTimestamp.self)
            let isNearMin = value < .min + 946_684_800_000_000
            #expect(back.microsecondsSince1970 == (isNearMin ? .min : value))
        }
        #expect(PostgresTimestamp(microsecondsSince1970: -1).secondsSince1970 == -1)
        #expect(PostgresTimestamp(secondsSince1970: .max).microsecondsSince1970 == .max)
        #expect(PostgresTimestamp(milliseconds: .max).microsecondsSince1970 == .max)
        #expect(PostgresTimestamp(milliseconds: .min).microsecondsSince1970 == .min)
        #expect(PostgresTimestamp(milliseconds: -5).microsecondsSince1970 == -5_000)
    }

    @Test func `Sixteen bytes make a UUID, fewer don't`() {
        let bytes = (0..<16).map { UInt8($0 * 16 + 1) }
        #expect(PostgresUUID(bytes: bytes)?.bytes == bytes)
        #expect(PostgresUUID(bytes: bytes.dropLast()) == nil)
    }
}

struct QueryTests {
    @Test func `Interpolated values become parameters, not text`() {
        let name: String? = nil
        let query: Query = "SELECT * FROM t WHERE a = \(Int32(1)) AND b = \("x'; DROP") AND c = \(name)"
        #expect(query.text == "SELECT * FROM t WHERE a = $1 AND b = $2 AND c = $3")
        #expect(query.parameterTypes == [.int4, .text, .text])
        var values: [[UInt8]?] = []
        query.forEachParameter { _, bytes in values.append(bytes.map { Array($0) }) }
        #expect(values == [[0, 0, 0, 1], Array("x'; DROP".utf8), nil])
    }

    @Test func `The same text is the same statement, another type of parameter is not`() {
        func query(_ n: Int) -> Query { "SELECT \(n), 'some text that is longer than eight bytes'" }
        #expect(query(1).hash == query(2).hash)
        let other: Query = "SELECT \(Int32(1)), 'some text that is longer than eight bytes'"
        #expect(other.text == query(1).text)
        #expect(other.hash != query(1).hash)
    }

    @Test func `More than sixteen parameters keep counting`() {
        var interpolation = Query.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        for n in 0..<20 { interpolation.appendInterpolation(n) }
        #expect(Query(stringInterpolation: interpolation).text.hasSuffix("$15$16$17$18$19$20"))
    }

    @Test(arguments: [
        ("SELECT 1", false), ("select updated_at, last_update from inserts", false),
        ("SELECT x FROM t WHERE y = $1 ORDER BY z", false), ("SELECT * FROM t FOR UPDATE", true),
        ("select * from t for key share", true), ("WITH a AS (insert into t values (1)) SELECT 1", true),
        ("SELECT nextval('s')", true), ("DELETE FROM t", true), ("update", true), ("", false),
    ]
    )
    func `Words that write or lock are found, names that contain them are not`(_ text: String, _ expected: Bool) {
        #expect(StatementText.mayWrite(text) == expected)
    }

    @Test func `A full cache lets the least recently used statement go and never uses a name again`() {
        var cache = StatementCache(statementsMax: 2, naming: StatementNaming(.none))
        let first = cache.find("SELECT 1")
        first.isPrepared = true
        let second = cache.find("SELECT 2")
        #expect(cache.find("SELECT 1") === first)
        let third = cache.find("SELECT 3")
        #expect(cache.count == 2)
        #expect(cache.takeDiscarded().isEmpty)  // The second was never sent, so there is nothing to give back.
        #expect(cache.find("SELECT 2") !== second)
        #expect(cache.takeDiscarded().map { $0 === first } == [true])
        #expect(Set([first.name, second.name, third.name]).count == 3)
    }
}

struct PartTests {
    @Test func `A queue keeps its order while it grows and turns around`() {
        var queue = FIFO<Int>()
        var expected: [Int] = []
        for n in 0..<200 {
            queue.append(n)
            expected.append(n)
            if n % 3 == 0 { #expect(queue.removeFirst() == expected.removeFirst()) }
        }
        #expect(queue.removeAll { $0 % 2 == 0 } == expected.filter { $0 % 2 == 0 })
        var rest: [Int] = []
        while let next = queue.removeFirst() { rest.append(next) }
        #expect(rest == expected.filter { $0 % 2 == 1 })
    }

    @Test func `The password is never printed, and settings are quoted`() {
        var configuration = PostgresConfiguration(host: "/run", user: "u", password: "secret", database: "d")
        configuration.searchPath = #"a 'b\c"#
        #expect(!"\(configuration)".contains("secret"))
        #expect(!String(reflecting: configuration).contains("secret"))
        let statement = configuration.settingsStatement(isLocal: true)
        #expect(statement.hasSuffix(#"set_config(E'search_path', E'a ''b\\c', true)"#))
    }

    @Test func `An error prints nothing of what was stored`() {
        var fault = PostgresServerError(
            state: .uniqueViolation,
            message: "duplicate 639171234567",
            constraint: "phones_pkey"
        )
        fault.detail = "Key (phone)=(639171234567) already exists."
        let error = PostgresError.server(fault)
        #expect(!"\(error)".contains("6391"))
        #expect("\(error)".contains("phones_pkey"))
        #expect(error.isUniqueViolation(of: "phones_pkey") && !error.isUniqueViolation(of: "other"))
    }
}
