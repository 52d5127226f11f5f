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
