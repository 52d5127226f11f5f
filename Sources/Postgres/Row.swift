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
        guard column >= 0 else { throw .decoding(CellDecodingError(column: -1, reason: "no column \(name)")) }
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
            throw .decoding(CellDecodingError(column: column, reason: "the result has \(storage.columnCount) columns"))
        }
        return storage.cell(row: index, column: column)
    }
}
