internal import CLibPQ

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
