/// A type whose arrays can be parameters and results. Conform a codable type with an empty body.
///
/// It stands between `Array` and the codable types because `[UInt8]` is bytea and no array to PostgreSQL.
public protocol PostgresArrayElement {
    /// What an array of this type is declared as.
    static var postgresArrayType: PostgresType { get }
    /// Appends the binary form of a whole array.
    static func encodeArray(_ elements: [Self], into bytes: inout [UInt8])
    /// Reads a whole array.
    static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [Self]
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    /// The element's array type.
    public static var postgresType: PostgresType { Element.postgresArrayType }
    /// The element decides.
    public func encode(into bytes: inout [UInt8]) { Element.encodeArray(self, into: &bytes) }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    /// The element decides.
    public static func decode(_ cell: PostgresCell) throws(PostgresError) -> [Element] {
        try Element.decodeArray(cell)
    }
}

extension UInt8: PostgresArrayElement {
    /// bytea
    public static var postgresArrayType: PostgresType { .bytea }
    /// The bytes.
    public static func encodeArray(_ elements: [UInt8], into bytes: inout [UInt8]) {
        bytes.append(contentsOf: elements)
    }
    /// From bytea.
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [UInt8] {
        let bytes = try cell.required("bytes")
        guard cell.type == .bytea else { throw cell.mismatch("bytes") }
        return [UInt8](bytes)
    }
}

extension Bool: PostgresArrayElement {}
extension Int: PostgresArrayElement {}
extension Int16: PostgresArrayElement {}
extension Int32: PostgresArrayElement {}
extension Int64: PostgresArrayElement {}
extension Float: PostgresArrayElement {}
extension Double: PostgresArrayElement {}
extension String: PostgresArrayElement {}

extension Array: PostgresArrayElement where Element == UInt8 {
    /// bytea[]
    public static var postgresArrayType: PostgresType { PostgresType.bytea.array }
    /// Every element as one bytea.
    public static func encodeArray(_ elements: [[UInt8]], into bytes: inout [UInt8]) {
        ArrayForm.encode(elements, elementType: .bytea, into: &bytes) { element, bytes in
            bytes.append(contentsOf: element)
            return true
        }
    }
    /// From bytea[].
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [[UInt8]] {
        try ArrayForm.decode(cell) { element throws(PostgresError) in try UInt8.decodeArray(element) }
    }
}

extension PostgresArrayElement where Self: PostgresCodable {
    /// The array of the element's type.
    public static var postgresArrayType: PostgresType { postgresType.array }
    /// One dimension, no NULLs.
    public static func encodeArray(_ elements: [Self], into bytes: inout [UInt8]) {
        ArrayForm.encode(elements, elementType: postgresType, into: &bytes) { element, bytes in
            element.encode(into: &bytes)
            return true
        }
    }
    /// One dimension, no NULLs.
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [Self] {
        try ArrayForm.decode(cell) { element throws(PostgresError) in try Self.decode(element) }
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement & PostgresCodable {
    /// The array of the wrapped type.
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
    /// One dimension; nil is NULL.
    public static func encodeArray(_ elements: [Wrapped?], into bytes: inout [UInt8]) {
        ArrayForm.encode(elements, elementType: Wrapped.postgresType, into: &bytes) { element, bytes in
            guard let element else { return false }
            element.encode(into: &bytes)
            return true
        }
    }
    /// One dimension; NULL is nil.
    public static func decodeArray(_ cell: PostgresCell) throws(PostgresError) -> [Wrapped?] {
        try ArrayForm.decode(cell) { element throws(PostgresError) in try Self.decode(element) }
    }
}

/// The binary form of arrays (`array_send` in PostgreSQL's `arrayfuncs.c`): count of dimensions, whether NULLs occur,
/// element type, then for each dimension its length and lower bound, then each element with its length before it.
enum ArrayForm {
    static func encode<Element>(
        _ elements: [Element],
        elementType: PostgresType,
        into bytes: inout [UInt8],
        append: (Element, inout [UInt8]) -> Bool
    ) {
        bytes.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
        let nullsAt = bytes.count
        bytes.append(bigEndian: Int32(0))
        bytes.append(bigEndian: elementType.rawValue)
        guard !elements.isEmpty else { return }
        bytes.append(bigEndian: Int32(elements.count))
        bytes.append(bigEndian: Int32(1))
        for element in elements {
            let lengthAt = bytes.count
            bytes.append(bigEndian: Int32(-1))
            guard append(element, &bytes) else {
                bytes[nullsAt + 3] = 1
                continue
            }
            let length = UInt32(bytes.count - lengthAt - 4)
            for byte in 0..<4 { bytes[lengthAt + byte] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(byte))) }
        }
    }

    static func decode<Element>(
        _ cell: PostgresCell,
        element decodeElement: (PostgresCell) throws(PostgresError) -> Element
    ) throws(PostgresError) -> [Element] {
        let bytes = try cell.required("array")
        guard bytes.count >= 12 else { throw cell.mismatch("array") }
        let dimensionCount = bytes.bigEndian(0, as: Int32.self)
        let elementType = PostgresType(rawValue: bytes.bigEndian(8, as: UInt32.self))
        if dimensionCount == 0 { return [] }
        guard dimensionCount == 1, bytes.count >= 20 else { throw cell.mismatch("array of one dimension") }
        let count = Int(bytes.bigEndian(12, as: Int32.self))
        // Each element takes four bytes at least, which bounds what a wrong count could make us reserve.
        guard count >= 0, count <= (bytes.count - 20) / 4 else { throw cell.mismatch("array") }
        var elements: [Element] = []
        elements.reserveCapacity(count)
        var offset = 20
        for _ in 0..<count {
            guard bytes.count - offset >= 4 else { throw cell.mismatch("array") }
            let length = Int(bytes.bigEndian(offset, as: Int32.self))
            offset += 4
            var content: UnsafeRawBufferPointer?
            if length >= 0 {
                guard length <= bytes.count - offset else { throw cell.mismatch("array") }
                content = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
                offset += length
            }
            elements.append(try decodeElement(PostgresCell(bytes: content, type: elementType, column: cell.column)))
        }
        return elements
    }
}
