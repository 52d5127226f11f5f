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
