internal import CLibPQ

/// The rows of a result. Values are read straight out of the memory that libpq put them in, which lives as long as
/// `Rows` or one of its rows does.
public struct Rows: Sendable, RandomAccessCollection {
    let storage: ResultStorage

    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { storage.rowCount }
    /// The number of rows.
    public var count: Int { storage.rowCount }

    /// A row by its place.
    public subscript(position: Int) -> Row {
        precondition(position >= 0 && position < storage.rowCount, "no such row")
        return Row(storage: storage, index: position)
    }

    /// No rows, of no statement.
    static var none: Rows {
        // It fails for want of memory only, where Swift itself would stop the program.
        guard let result = PQmakeEmptyPGresult(nil, PGRES_COMMAND_OK) else { fatalError("out of memory") }
        return Rows(storage: ResultStorage(result))
    }

    /// How many rows the statement inserted, changed, deleted or selected.
    public var affected: Int { storage.affected }
}

/// One row of a result.
public struct Row: Sendable {
    let storage: ResultStorage
    let index: Int

    /// The value in a column, by place from zero. Throws `PostgresError.decoding`.
    @inlinable
    public func decode<Value: PostgresDecodable>(
        _ column: Int,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        try Value.decode(try cell(column))
    }

    /// The value in the column of that name. Throws `PostgresError.decoding`.
    public func decode<Value: PostgresDecodable>(
        _ name: String,
        as type: Value.Type = Value.self
    ) throws(PostgresError) -> Value {
        let column = storage.column(named: name)
        guard column >= 0 else { throw .decoding(DecodingFault(column: -1, reason: "no column \(name)")) }
        return try Value.decode(try cell(column))
    }

    /// The values of the first columns, in order: `let (id, name) = try row.decode(Int64.self, String?.self)`.
    @inlinable
    public func decode<each Value: PostgresDecodable>(
        _ types: repeat (each Value).Type
    ) throws(PostgresError) -> (repeat each Value) {
        var column = 0
        func next<Next: PostgresDecodable>(_ type: Next.Type) throws(PostgresError) -> Next {
            let value = try Next.decode(try cell(column))
            column += 1
            return value
        }
        return (repeat try next(each types))
    }

    @usableFromInline
    func cell(_ column: Int) throws(PostgresError) -> PostgresCell {
        guard column >= 0, column < storage.columnCount else {
            throw .decoding(DecodingFault(column: column, reason: "the result has \(storage.columnCount) columns"))
        }
        return storage.cell(row: index, column: column)
    }
}

/// Owns a PGresult.
///
/// Unchecked: libpq never changes a result once it has handed it out, and says that one may then be read from any
/// thread; it is freed once, when the last reader is gone.
final class ResultStorage: @unchecked Sendable {
    private let result: OpaquePointer
    let rowCount: Int
    let columnCount: Int

    /// Takes the result over.
    init(_ result: OpaquePointer) {
        self.result = result
        rowCount = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(result) }

    var affected: Int {
        guard let text = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: text)) ?? 0
    }

    func column(named name: String) -> Int {
        for column in 0..<columnCount {
            if let found = PQfname(result, Int32(column)), String(cString: found) == name { return column }
        }
        return -1
    }

    func cell(row: Int, column: Int) -> PostgresCell {
        let (row, place) = (Int32(row), Int32(column))
        let type = PostgresType(rawValue: PQftype(result, place))
        guard PQgetisnull(result, row, place) == 0, let start = PQgetvalue(result, row, place) else {
            return PostgresCell(bytes: nil, type: type, column: column)
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, place)))
        return PostgresCell(bytes: bytes, type: type, column: column)
    }
}

extension ServerFault {
    /// Out of a result with an error in it.
    init(result: OpaquePointer) {
        // The fields' letters are of `postgres_ext.h`; Swift doesn't see character macros.
        func field(_ letter: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
        }
        state = SQLState(field("C") ?? "XX000")
        message = field("M") ?? "no message"
        detail = field("D")
        hint = field("H")
        constraint = field("n")
        schema = field("s")
        table = field("t")
        column = field("c")
        function = field("R")
    }
}
