import Foundation
import SwiftProtobuf

/// Options that are messages, of which the kits need single fields.
enum KitOptions {
    /// `vestibule.options.v1.json`.
    static let json = MessageExtension<OptionalExtensionField<ProtobufBytes>, Google_Protobuf_FieldOptions>(
        _protobuf_fieldNumber: 52041,
        fieldName: "vestibule.options.v1.json"
    )
}

/// The numbers of a serialized message, by field. The plugin has no generated messages of its own: it would have to be built by
/// what it writes.
struct WireFields {
    private var numbers: [UInt64: UInt64] = [:]

    /// Reads a message; nil is an empty one.
    init(_ bytes: Data?) {
        var rest = (bytes ?? Data())[...]
        while let tag = Self.varint(&rest) {
            switch tag & 7 {
            case 0: numbers[tag >> 3] = Self.varint(&rest)
            case 1: rest = rest.dropFirst(8)
            case 2: rest = rest.dropFirst(Int(Self.varint(&rest) ?? 0))
            default: rest = rest.dropFirst(4)
            }
        }
    }

    /// The number of a field, 0 if it is absent; 1 is true.
    func number(_ field: UInt64) -> UInt64 { numbers[field] ?? 0 }

    private static func varint(_ bytes: inout Data.SubSequence) -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = bytes.popFirst(), shift < 64 {
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }
}
