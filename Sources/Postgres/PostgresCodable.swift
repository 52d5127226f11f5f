/// A value that can be a parameter, in PostgreSQL's binary form.
public protocol PostgresEncodable {
    /// The type that the parameter is declared to have.
    static var postgresType: PostgresType { get }

    /// Appends the binary form.
    func encode(into bytes: inout [UInt8])
}

/// A value that can be read from a column, in PostgreSQL's binary form.
public protocol PostgresDecodable {
    /// Reads a cell; throws `PostgresError.decoding` for NULL or another type than this one takes.
    static func decode(_ cell: PostgresCell) throws(PostgresError) -> Self
}

/// Both ways.
public typealias PostgresCodable = PostgresEncodable & PostgresDecodable

/// One value of a result. Valid only while it is being decoded: its bytes lie in the result's memory.
public struct PostgresCell {
    /// The value's bytes; nil for NULL.
    public let bytes: UnsafeRawBufferPointer?
    /// The column's type.
    public let type: PostgresType
    /// The column's place, from zero.
    public let column: Int

    /// A cell over bytes that the caller keeps alive.
    public init(bytes: UnsafeRawBufferPointer?, type: PostgresType, column: Int) {
        self.bytes = bytes
        self.type = type
        self.column = column
    }

    /// The error for a value of the wrong type.
    public func mismatch(_ wanted: String) -> PostgresError {
        .decoding(CellDecodingError(column: column, reason: "\(wanted) wanted, type \(type.rawValue) found"))
    }

    /// The bytes, or the error for NULL.
    public func required(_ wanted: String) throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let bytes else {
            throw .decoding(CellDecodingError(column: column, reason: "\(wanted) wanted, NULL found"))
        }
        return bytes
    }

    /// The bytes if they are exactly as many as the type has.
    func required(_ wanted: String, byteCount: Int) throws(PostgresError) -> UnsafeRawBufferPointer {
        let bytes = try required(wanted)
        guard bytes.count == byteCount else { throw mismatch(wanted) }
        return bytes
    }
}

extension UnsafeRawBufferPointer {
    /// A big-endian integer at an offset, of any alignment.
    func bigEndian<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type) -> Value {
        Value(bigEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}

extension Array where Element == UInt8 {
    /// Appends an integer in network byte order.
    mutating func append<Value: FixedWidthInteger>(bigEndian value: Value) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension PostgresCell {
    /// Any of the three integer types.
    fileprivate func integer(_ wanted: String) throws(PostgresError) -> Int64 {
        let bytes = try required(wanted)
        switch (type, bytes.count) {
        case (.int8, 8): return bytes.bigEndian(0, as: Int64.self)
        case (.int4, 4): return Int64(bytes.bigEndian(0, as: Int32.self))
        case (.int2, 2): return Int64(bytes.bigEndian(0, as: Int16.self))
        default: throw mismatch(wanted)
        }
    }

    fileprivate func narrowed<Value: FixedWidthInteger>(_ wanted: String) throws(PostgresError) -> Value {
        guard let value = Value(exactly: try integer(wanted)) else {
            throw .decoding(CellDecodingError(column: column, reason: "the number doesn't fit \(wanted)"))
        }
        return value
    }
}

extension Int: PostgresCodable {
    /// bigint
    public static var postgresType: PostgresType { .int8 }
    /// Eight bytes.
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: Int64(self)) }
    /// From any integer type.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Int { try cell.narrowed("Int") }
}

extension Int64: PostgresCodable {
    /// bigint
    public static var postgresType: PostgresType { .int8 }
    /// Eight bytes.
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    /// From any integer type.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Int64 { try cell.integer("Int64") }
}

extension Int32: PostgresCodable {
    /// integer
    public static var postgresType: PostgresType { .int4 }
    /// Four bytes.
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    /// From any integer type that holds a number that fits.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Int32 { try cell.narrowed("Int32") }
}

extension Int16: PostgresCodable {
    /// smallint
    public static var postgresType: PostgresType { .int2 }
    /// Two bytes.
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    /// From any integer type that holds a number that fits.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Int16 { try cell.narrowed("Int16") }
}

extension Bool: PostgresCodable {
    /// bool
    public static var postgresType: PostgresType { .bool }
    /// One byte.
    public func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
    /// From bool.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Bool {
        let bytes = try cell.required("Bool", byteCount: 1)
        guard cell.type == .bool else { throw cell.mismatch("Bool") }
        return bytes[0] != 0
    }
}

extension Double: PostgresCodable {
    /// double precision
    public static var postgresType: PostgresType { .float8 }
    /// Eight bytes.
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: bitPattern) }
    /// From either floating-point type.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Double {
        if cell.type == .float4 { return Double(try Float.decode(cell)) }
        let bytes = try cell.required("Double", byteCount: 8)
        guard cell.type == .float8 else { throw cell.mismatch("Double") }
        return Double(bitPattern: bytes.bigEndian(0, as: UInt64.self))
    }
}

extension Float: PostgresCodable {
    /// real
    public static var postgresType: PostgresType { .float4 }
    /// Four bytes.
    public func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: bitPattern) }
    /// From real.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Float {
        let bytes = try cell.required("Float", byteCount: 4)
        guard cell.type == .float4 else { throw cell.mismatch("Float") }
        return Float(bitPattern: bytes.bigEndian(0, as: UInt32.self))
    }
}

extension String: PostgresCodable {
    /// text; cast it in the statement where something else is wanted (`\(value)::jsonb`).
    public static var postgresType: PostgresType { .text }
    /// UTF-8.
    public func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
    /// From the character types, JSON and enumerations.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> String {
        var bytes = try cell.required("String")
        if cell.type == .jsonb, bytes.first == 1 {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())  // The form's version, always 1.
        } else if !cell.type.isTextual {
            throw cell.mismatch("String")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Nil for NULL.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Wrapped? {
        cell.bytes == nil ? nil : try Wrapped.decode(cell)
    }
}

extension RawRepresentable where Self: PostgresEncodable, RawValue: PostgresEncodable {
    /// The raw value's type.
    public static var postgresType: PostgresType { RawValue.postgresType }
    /// The raw value.
    public func encode(into bytes: inout [UInt8]) { rawValue.encode(into: &bytes) }
}

extension RawRepresentable where Self: PostgresDecodable, RawValue: PostgresDecodable {
    /// From the raw value, if it is one of this type's.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> Self {
        guard let value = Self(rawValue: try RawValue.decode(cell)) else {
            throw .decoding(CellDecodingError(column: cell.column, reason: "not a raw value of \(Self.self)"))
        }
        return value
    }
}
