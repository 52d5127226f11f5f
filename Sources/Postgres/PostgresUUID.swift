/// Sixteen bytes of uuid; what they mean is the caller's.
public struct PostgresUUID: Sendable, Hashable, Comparable {
    /// The first eight bytes, as a big-endian number.
    public var high: UInt64
    /// The last eight bytes, as a big-endian number.
    public var low: UInt64

    /// A value by its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A value by its bytes; nil unless they are sixteen.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The sixteen bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        encode(into: &bytes)
        return bytes
    }

    /// In the order of the bytes, which is PostgreSQL's.
    public static func < (left: PostgresUUID, right: PostgresUUID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension PostgresUUID: PostgresCodable, PostgresArrayElement {
    /// uuid
    public static var postgresType: PostgresType { .uuid }

    /// Sixteen bytes.
    public func encode(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
    }

    /// From uuid.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> PostgresUUID {
        let bytes = try cell.required("UUID", byteCount: 16)
        guard cell.type == .uuid else { throw cell.mismatch("UUID") }
        return PostgresUUID(high: bytes.bigEndian(0, as: UInt64.self), low: bytes.bigEndian(8, as: UInt64.self))
    }
}
