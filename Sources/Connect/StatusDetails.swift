/// Reads the details of a serialized `google.rpc.Status` (`RPCError.statusDetails`) by the wire format alone, since their types
/// don't matter here. Reading stops at the first malformed byte.
struct StatusDetails {
    /// A `google.protobuf.Any`.
    struct Detail: Hashable {
        /// The full name of the message.
        var type: String
        /// The message, serialized.
        var value: [UInt8]
    }

    private(set) var details: [Detail] = []

    init(_ bytes: [UInt8]) {
        var fields = WireFields(bytes[...])
        while let field = fields.next() {
            if field.number == 3, let detail = Self.detail(field.bytes) { details.append(detail) }
        }
    }

    private static func detail(_ bytes: ArraySlice<UInt8>) -> Detail? {
        var url = ""
        var value: [UInt8] = []
        var fields = WireFields(bytes)
        while let field = fields.next() {
            if field.number == 1 { url = String(decoding: field.bytes, as: UTF8.self) }
            if field.number == 2 { value = Array(field.bytes) }
        }
        // The name follows the last slash (google/protobuf/any.proto).
        let type = url.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        return type.isEmpty ? nil : Detail(type: type, value: value)
    }
}

/// Iterates over the length-delimited fields of a serialized message.
private struct WireFields {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    mutating func next() -> (number: UInt64, bytes: ArraySlice<UInt8>)? {
        while let key = varint() {
            switch key & 7 {
            case 0: guard varint() != nil else { return nil }
            case 1: guard take(8) != nil else { return nil }
            case 2:
                guard let count = varint(), let taken = take(Int(clamping: count)) else { return nil }
                return (key >> 3, taken)
            case 5: guard take(4) != nil else { return nil }
            default: return nil
            }
        }
        return nil
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private mutating func varint() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}
