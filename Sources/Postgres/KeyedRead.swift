/// A read of one row by a unique key. Those that one turn of a loop asks for travel as one statement, so that many callers
/// cost the server little more than one of them. Make it once and keep it.
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

/// A key of a `KeyedRead`.
public struct ReadKey: Sendable {
    /// What a key can be.
    public enum Kind: Sendable {
        /// uuid
        case uuid
        /// integer
        case int32
        /// bigint
        case int64

        var postgresType: PostgresType {
            switch self {
            case .uuid: .uuid
            case .int32: .int4
            case .int64: .int8
            }
        }
    }

    let type: PostgresType
    /// Its binary form: the last `byteCount` bytes of the two numbers together.
    let high: UInt64
    let low: UInt64
    let byteCount: Int

    /// A key of type uuid.
    public init(_ key: PostgresUUID) { (type, high, low, byteCount) = (.uuid, key.high, key.low, 16) }

    /// A key of type integer.
    public init(_ key: Int32) { (type, high, low, byteCount) = (.int4, 0, UInt64(UInt32(bitPattern: key)), 4) }

    /// A key of type bigint.
    public init(_ key: Int64) { (type, high, low, byteCount) = (.int8, 0, UInt64(bitPattern: key), 8) }

    func append(to bytes: inout [UInt8]) {
        switch byteCount {
        case 16:
            bytes.append(bigEndian: high)
            bytes.append(bigEndian: low)
        case 8: bytes.append(bigEndian: low)
        default: bytes.append(bigEndian: UInt32(truncatingIfNeeded: low))
        }
    }

    /// Whether a value of the server's is this key.
    func equals(_ cell: PostgresCell) -> Bool {
        guard let bytes = cell.bytes, cell.type == type, bytes.count == byteCount else { return false }
        return switch byteCount {
        case 16: bytes.bigEndian(0, as: UInt64.self) == high && bytes.bigEndian(8, as: UInt64.self) == low
        case 8: bytes.bigEndian(0, as: UInt64.self) == low
        default: bytes.bigEndian(0, as: UInt32.self) == UInt32(truncatingIfNeeded: low)
        }
    }
}
