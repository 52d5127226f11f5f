import API
import HTTPJSON
import JOSE
import SwiftProtobuf

extension JSONWriter {
    /// Writes the members of a message's JSON object.
    mutating func addMembers<M: Message>(of message: M, _ shape: MessageShape) {
        withUnsafeMutablePointer(to: &self) { writer in
            var visitor = MessageJSON(writer, shape)
            // It throws only what `MessageJSON` throws, which is nothing.
            try? message.traverse(visitor: &visitor)
            visitor.finish()
        }
    }

    /// Writes a message of the public API as a member.
    mutating func add<M: Message>(_ name: StaticString, message: M) {
        let shape = AppDescription.current.shape(of: M.self)
        add(name) { $0.addMembers(of: message, shape) }
    }

    /// Writes messages of the public API as a member.
    mutating func add<M: Message>(_ name: StaticString, messages: [M]) {
        let shape = AppDescription.current.shape(of: M.self)
        add(name, messages) { $1.addMembers(of: $0, shape) }
    }
}

extension Response {
    /// A response whose body is a message of the public API.
    static func json<M: Message>(message: M) -> Response {
        .json { $0.addMembers(of: message, AppDescription.current.shape(of: M.self)) }
    }
}

/// Writes a message's fields as members, by rising number. SwiftProtobuf skips fields with their default values: these are written
/// when a later field, or the end, comes.
private struct MessageJSON: FieldVisitor {
    /// The writer outlives the visitor: see `JSONWriter.addMembers`, which is the only place that makes one. A visitor is copyable,
    /// and so can't hold the writer itself.
    private let writer: UnsafeMutablePointer<JSONWriter>
    private let shape: MessageShape
    /// The first field that isn't written yet.
    private var next = 0

    init(_ writer: UnsafeMutablePointer<JSONWriter>, _ shape: MessageShape) {
        self.writer = writer
        self.shape = shape
    }

    /// Writes the fields that are left.
    mutating func finish() {
        while next < shape.fields.count { writeDefault() }
    }

    /// Goes to a field; nil if JSON doesn't have it.
    private mutating func begin(_ number: Int) -> FieldShape? {
        while next < shape.fields.count, shape.fields[next].number < number { writeDefault() }
        guard next < shape.fields.count, shape.fields[next].number == number else { return nil }
        let field = shape.fields[next]
        next += 1
        guard !field.isHidden else { return nil }
        if !field.isInline { writer.pointee.begin(field.memberName) }
        return field
    }

    /// Writes the next field as one that has its default value.
    private mutating func writeDefault() {
        let field = shape.fields[next]
        next += 1
        guard !field.isHidden else { return }
        if field.isRepeated {
            writer.pointee.begin(field.memberName)
            return writer.pointee.array([Int]()) { _, _ in }
        }
        if case .message(let inner) = field.kind {
            if field.isInline {
                var defaults = MessageJSON(writer, inner)
                return defaults.finish()
            }
            // An absent message is null, or no member.
            guard field.isNullable else { return }
        }
        writer.pointee.begin(field.memberName)
        if field.isNullable { return writer.pointee.writeNull() }
        switch field.kind {
        case .text: writer.pointee.write("")
        case .truth: writer.pointee.write(false)
        case .integer: writer.pointee.write(Int64(0))
        case .word(let words): writer.pointee.write(words.fallback)
        case .moment, .message: writer.pointee.writeNull()
        }
    }

    private func write<M: Message>(_ message: M, _ field: FieldShape) {
        if let moment = message as? Google_Protobuf_Timestamp {
            writer.pointee.write(RFC3339.text(milliseconds: moment.milliseconds))
        } else if case .message(let inner) = field.kind {
            if !field.isInline { writer.pointee.beginObject() }
            writer.pointee.addMembers(of: message, inner)
            if !field.isInline { writer.pointee.endObject() }
        }
    }

    // MARK: Fields

    mutating func visitSingularStringField(value: String, fieldNumber: Int) {
        if begin(fieldNumber) != nil { writer.pointee.write(value) }
    }

    mutating func visitSingularBoolField(value: Bool, fieldNumber: Int) {
        if begin(fieldNumber) != nil { writer.pointee.write(value) }
    }

    mutating func visitSingularInt64Field(value: Int64, fieldNumber: Int) {
        if begin(fieldNumber) != nil { writer.pointee.write(value) }
    }

    mutating func visitSingularEnumField<E: Enum>(value: E, fieldNumber: Int) {
        guard let field = begin(fieldNumber), case .word(let words) = field.kind else { return }
        writer.pointee.write(words.word(value.rawValue))
    }

    mutating func visitSingularMessageField<M: Message>(value: M, fieldNumber: Int) {
        if let field = begin(fieldNumber) { write(value, field) }
    }

    mutating func visitRepeatedStringField(value: [String], fieldNumber: Int) {
        if begin(fieldNumber) != nil { writer.pointee.array(value) { $1.write($0) } }
    }

    mutating func visitRepeatedMessageField<M: Message>(value: [M], fieldNumber: Int) {
        guard let field = begin(fieldNumber), case .message(let inner) = field.kind else { return }
        writer.pointee.array(value) { message, json in
            json.beginObject()
            json.addMembers(of: message, inner)
            json.endObject()
        }
    }
}
