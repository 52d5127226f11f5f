/// A moment in microseconds, the precision of timestamptz.
///
/// PostgreSQL's `infinity` and `-infinity` are the largest and smallest value, both ways.
public struct PostgresTimestamp: Sendable, Hashable, Comparable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public var microsecondsSince1970: Int64

    /// A moment in microseconds since 1970.
    public init(microsecondsSince1970: Int64) { self.microsecondsSince1970 = microsecondsSince1970 }

    /// A moment in whole seconds since 1970, as JWTs carry it.
    public init(secondsSince1970: Int64) {
        let (product, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000)
        microsecondsSince1970 = overflow ? (secondsSince1970 < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded down.
    public var secondsSince1970: Int64 {
        let (quotient, remainder) = microsecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// A moment in milliseconds since 1970; the first or last there is if it doesn't fit.
    public init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000)
        microsecondsSince1970 = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    /// Whole milliseconds since 1970, rounded towards zero.
    public var milliseconds: Int64 { microsecondsSince1970 / 1_000 }

    /// The earlier one first.
    public static func < (left: PostgresTimestamp, right: PostgresTimestamp) -> Bool {
        left.microsecondsSince1970 < right.microsecondsSince1970
    }

    /// The binary form counts from 2000-01-01 00:00 UTC.
    private static let epochOffset: Int64 = 946_684_800_000_000
}

extension PostgresTimestamp: PostgresCodable, PostgresArrayElement {
    /// timestamptz
    public static var postgresType: PostgresType { .timestamptz }

    /// Eight bytes.
    public func encode(into bytes: inout [UInt8]) {
        switch microsecondsSince1970 {
        case .max: bytes.append(bigEndian: Int64.max)
        case ..<(Int64.min + Self.epochOffset): bytes.append(bigEndian: Int64.min)
        default: bytes.append(bigEndian: microsecondsSince1970 - Self.epochOffset)
        }
    }

    /// From either timestamp type; one without a time zone is taken for UTC.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> PostgresTimestamp {
        let bytes = try cell.required("timestamp", byteCount: 8)
        guard cell.type == .timestamptz || cell.type == .timestamp else { throw cell.mismatch("timestamp") }
        let value = bytes.bigEndian(0, as: Int64.self)
        if value == .min { return PostgresTimestamp(microsecondsSince1970: .min) }
        let (sum, overflow) = value.addingReportingOverflow(epochOffset)
        return PostgresTimestamp(microsecondsSince1970: overflow ? .max : sum)
    }
}
