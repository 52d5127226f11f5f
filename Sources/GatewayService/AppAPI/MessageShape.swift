import API
import JOSE
import SwiftProtobuf

/// A message of the public API as JSON routes read and write it: its fields with their options.
struct MessageShape: Sendable {
    /// The name of its schema in the OpenAPI document.
    let schemaName: String
    /// The fields, by rising number.
    let fields: [FieldShape]

    /// The field that a proto calls so.
    func field(_ name: String) -> FieldShape? { fields.first { $0.protoName == name } }

    /// The same message of which JSON has the members of one field alone.
    func unwrapping(_ name: String) throws -> MessageShape {
        guard let body = field(name), case .message(let inner) = body.kind else {
            throw ShapeError.noSuchField(name, of: schemaName)
        }
        return MessageShape(
            schemaName: inner.schemaName,
            fields: fields.map { $0.number == body.number ? $0.inlined : $0.hidden }
        )
    }
}

/// A field of a message. A class, since a response goes through the fields one by one: a structure's copies would count references
/// of all its parts each time.
final class FieldShape: Sendable {
    /// What a field, or an element of it, may be.
    indirect enum Kind: Sendable {
        case text
        case truth
        case integer
        case moment
        case word(Words)
        case message(MessageShape)
    }

    let number: Int
    let protoName: String
    /// The name in JSON.
    let name: String
    /// The same as it is written before a value.
    let memberName: JSONMemberName
    let kind: Kind
    let isRepeated: Bool
    /// Whether absent differs from empty.
    let hasPresence: Bool
    let options: OptionsV1.JsonField
    /// Whether JSON has null for its default value.
    let isNullable: Bool
    /// The comment, for people.
    let description: String
    let isHidden: Bool
    let isInline: Bool

    /// Whether a request may leave it out.
    var isOptional: Bool { options.optional || hasPresence }

    /// - Parameter comment: for people.
    fileprivate init(of field: Google_Protobuf_FieldDescriptorProto, kind: Kind, comment: String) {
        let options = field.options.Vestibule_Options_V1_json
        number = Int(field.number)
        protoName = field.name
        name = options.name.isEmpty ? field.name : options.name
        memberName = JSONMemberName(name)
        self.kind = kind
        isRepeated = field.label == .repeated
        hasPresence = field.proto3Optional
        self.options = options
        isNullable = options.nullable
        description = comment
        isHidden = options.hidden
        isInline = options.inline
    }

    private init(_ field: FieldShape, isHidden: Bool, isInline: Bool) {
        number = field.number
        protoName = field.protoName
        name = field.name
        memberName = field.memberName
        kind = field.kind
        isRepeated = field.isRepeated
        hasPresence = field.hasPresence
        options = field.options
        isNullable = field.isNullable
        description = field.description
        self.isHidden = isHidden
        self.isInline = isInline
    }

    fileprivate var hidden: FieldShape { FieldShape(self, isHidden: true, isInline: isInline) }

    fileprivate var inlined: FieldShape { FieldShape(self, isHidden: isHidden, isInline: true) }
}

/// The values of an enum as JSON has them.
struct Words: Sendable {
    /// By number, each value's word. Zero has none: it is never sent, or means absent.
    let words: [(number: Int, word: String)]
    /// The word for a value of a later version.
    let fallback: String

    /// The word for a value.
    func word(_ number: Int) -> String { words.first { $0.number == number }?.word ?? fallback }
}

/// A fault of the protos.
enum ShapeError: Error {
    case noSuchField(String, of: String)
    case unknownType(String)
    case unsupported(field: String)
}

/// Makes shapes of the messages of files; each once.
struct MessageShapes {
    private(set) var found: [String: MessageShape] = [:]
    private var declared: [String: (message: Google_Protobuf_DescriptorProto, comments: (Int) -> String)] = [:]
    private var words: [String: Words] = [:]

    /// - Parameter files: all of one package.
    init(_ files: [Google_Protobuf_FileDescriptorProto]) {
        for file in files {
            let comments = ProtoComments(file)
            for (index, message) in file.messageType.enumerated() {
                declared[".\(file.package).\(message.name)"] = (message, { comments.text([4, index, 2, $0]) })
            }
            for type in file.enumType { words[".\(file.package).\(type.name)"] = Self.words(of: type) }
        }
    }

    /// The shape of a message.
    ///
    /// - Parameter name: the full name with a leading dot, as descriptors have it.
    mutating func shape(of name: String) throws -> MessageShape {
        if let shape = found[name] { return shape }
        guard let (message, comments) = declared[name] else { throw ShapeError.unknownType(name) }
        let fields = try message.field.enumerated().map { index, field in
            FieldShape(of: field, kind: try kind(of: field), comment: comments(index))
        }
        let named = message.options.hasVestibule_Options_V1_schema
        let made = MessageShape(
            schemaName: named ? message.options.Vestibule_Options_V1_schema : message.name,
            fields: fields.sorted { $0.number < $1.number }
        )
        found[name] = made
        return made
    }

    private mutating func kind(of field: Google_Protobuf_FieldDescriptorProto) throws -> FieldShape.Kind {
        switch field.type {
        case .string: return .text
        case .bool: return .truth
        case .int32, .int64: return .integer
        case .enum:
            guard let words = words[field.typeName] else { throw ShapeError.unknownType(field.typeName) }
            return .word(words)
        case .message:
            if field.typeName == ".google.protobuf.Timestamp" { return .moment }
            return .message(try shape(of: field.typeName))
        case .double, .float, .uint64, .fixed64, .fixed32, .group, .bytes, .uint32, .sfixed32, .sfixed64, .sint32,
            .sint64:
            throw ShapeError.unsupported(field: field.name)
        }
    }

    private static func words(of type: Google_Protobuf_EnumDescriptorProto) -> Words {
        let prefix = type.name.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined().dropFirst() + "_"
        return Words(
            words: type.value.filter { $0.number != 0 }.map { value in
                let name = value.name.hasPrefix(prefix) ? String(value.name.dropFirst(prefix.count)) : value.name
                return (Int(value.number), name.lowercased())
            },
            fallback: type.options.Vestibule_Options_V1_fallback
        )
    }
}
