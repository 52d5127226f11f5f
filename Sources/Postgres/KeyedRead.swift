/// A read of one row by a unique key. The reads of one loop turn are sent as one statement, so that many callers cost the
/// server little more than one. Make it once and keep it.
public struct KeyedRead: Sendable {
    /// One parameter, the keys, and for each that is found one row: the columns, and then the key.
    ///
    /// The subquery is looked up once for each key, by the index, however few rows the planner believes the table to
    /// have: OFFSET 0 keeps it from being turned into a join.
    let text: String
    let hash: UInt64
    let keyType: PostgresType

    /// - Parameters:
    ///   - columns: what is read, as it stands behind SELECT. Part of the statement: never anything from outside.
    ///   - table: where it is read from, likewise.
    ///   - key: the column that the key is compared with. An index makes sure that no two rows have the same.
    ///   - keyType: the column's type.
    public init(_ columns: String, from table: String, key: String, keyType: ReadKey.Kind) {
        text = """
            SELECT found.*, asked.key FROM unnest($1) AS asked(key)
            CROSS JOIN LATERAL (SELECT \(columns) FROM \(table) WHERE \(key) = asked.key OFFSET 0) AS found
            """
        self.keyType = keyType.postgresType
        hash = Query.hash(of: text, parameter: keyType.postgresType.array)
    }
}
