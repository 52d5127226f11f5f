import FoundationEssentials
import SwiftProtobuf

/// A visitor of the kinds of fields that messages of the public API have (`MessageShapes` throws for others). It ignores what it
/// doesn't implement.
protocol FieldVisitor: Visitor {}

extension FieldVisitor {
    mutating func visitUnknown(bytes: Data) {}
    mutating func visitSingularDoubleField(value: Double, fieldNumber: Int) {}
    mutating func visitSingularInt64Field(value: Int64, fieldNumber: Int) {}
    mutating func visitSingularUInt64Field(value: UInt64, fieldNumber: Int) {}
    mutating func visitSingularBoolField(value: Bool, fieldNumber: Int) {}
    mutating func visitSingularStringField(value: String, fieldNumber: Int) {}
    mutating func visitSingularBytesField(value: Data, fieldNumber: Int) {}
    mutating func visitSingularEnumField<E: Enum>(value: E, fieldNumber: Int) {}
    mutating func visitSingularMessageField<M: Message>(value: M, fieldNumber: Int) {}
    mutating func visitMapField<KeyType, ValueType: MapValueType>(
        fieldType: _ProtobufMap<KeyType, ValueType>.Type,
        value: _ProtobufMap<KeyType, ValueType>.BaseType,
        fieldNumber: Int
    ) {}
    mutating func visitMapField<KeyType, ValueType>(
        fieldType: _ProtobufEnumMap<KeyType, ValueType>.Type,
        value: _ProtobufEnumMap<KeyType, ValueType>.BaseType,
        fieldNumber: Int
    ) {}
    mutating func visitMapField<KeyType, ValueType>(
        fieldType: _ProtobufMessageMap<KeyType, ValueType>.Type,
        value: _ProtobufMessageMap<KeyType, ValueType>.BaseType,
        fieldNumber: Int
    ) {}
}

extension Message {
    /// Whether a field, by its number, is a truth value that is true.
    func isTrue(_ number: Int) -> Bool {
        var finder = TruthFinder(number: number)
        // Only the visitor throws, and it doesn't.
        try? traverse(visitor: &finder)
        return finder.isTrue
    }
}

/// Finds whether a field is true.
private struct TruthFinder: FieldVisitor {
    let number: Int
    var isTrue = false

    mutating func visitSingularBoolField(value: Bool, fieldNumber: Int) {
        if fieldNumber == number { isTrue = value }
    }
}
