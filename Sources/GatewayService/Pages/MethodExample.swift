import API
import HTTPJSON
import HTTPTypes
import JOSE
import RPC

/// The lines of a method of the public API on ``HomePage``: its call by Connect in JSON, and by its route. Both are made of the
/// example in its proto.
struct MethodExample: Sendable {
    /// Every method but streams, which a shell can't read.
    static let all = AppCallMetrics.methods.filter { $0.kind == .unary }.map { MethodExample($0) }

    let method: MethodDescriptor
    /// What the protos say of it.
    let described: AppDescription.Method
    /// The example, with the names of routes.
    let example: JSONObject

    init(_ method: MethodDescriptor) {
        self.method = method
        described = AppDescription.current[method]
        let text = described.options.example.isEmpty ? "{}" : described.options.example
        guard let example = try? JSONObject(parsing: Array(text.utf8)) else {
            preconditionFailure("the example of \(method.path) is no JSON object")
        }
        self.example = example
    }

    var title: String { method.spanName }
    /// What the method does, in a sentence.
    var summary: String { described.summary + "." }

    /// The call by Connect.
    var call: CallExample {
        let needsToken = described.options.caller != .anyone
        guard !method.allowsGet else {
            return CallExample(target: "\(method.path)?encoding=json&message=%7B%7D", needsToken: needsToken)
        }
        let message = Self.message(example, described.request)
        return CallExample(target: method.path, method: "POST", body: Self.shell(message), needsToken: needsToken)
    }

    /// The request to the method's route.
    func request(_ operation: OpenAPI.Operation) -> CallExample {
        var rest = example
        let segments = operation.path.split(separator: "/").map { segment in
            guard segment.hasPrefix("{") else { return String(segment) }
            let name = String(segment.dropFirst().dropLast())
            defer { rest[name] = nil }
            return example[name]?.string ?? String(segment)
        }
        var target = "/" + segments.joined(separator: "/")
        let isRead = operation.method == .get
        if isRead, !rest.members.isEmpty {
            target += "?" + rest.members.map { "\($0.name)=\($0.value.text)" }.joined(separator: "&")
        }
        let hasBody = operation.body?.isRequired == true || !rest.members.isEmpty
        return CallExample(
            target: target,
            method: operation.method.rawValue,
            body: isRead || !hasBody ? nil : Self.shell(rest),
            needsToken: described.options.caller != .anyone
        )
    }

    /// A message in protobuf's own JSON: the names of fields as routes have them become those of the proto, words become names of values.
    private static func message(_ object: JSONObject, _ shape: MessageShape) -> JSONObject {
        var message = JSONObject()
        for member in object.members {
            guard let field = shape.fields.first(where: { $0.name == member.name }) else { continue }
            message[field.protoName.lowerCamel] = value(member.value, field)
        }
        return message
    }

    private static func value(_ value: JSONValue, _ field: FieldShape) -> JSONValue {
        switch field.kind {
        case .word(let words):
            return words.words.first { $0.word == value.string }.map { .integer(Int64($0.number)) } ?? value
        case .message(let shape):
            if let elements = value.array {
                return .array(elements.map { .object(message($0.object ?? JSONObject(), shape)) })
            }
            return .object(message(value.object ?? JSONObject(), shape))
        case .text, .truth, .integer, .moment: return value
        }
    }

    /// The text between the apostrophes of a shell: a variable stands outside of them.
    private static func shell(_ object: JSONObject) -> String {
        var text = ""
        var rest = Substring(object.text)
        while let start = rest.firstRange(of: "\"$") {
            text += rest[..<start.lowerBound] + "\"'$"
            rest = rest[start.upperBound...]
            let name = rest.prefix { $0.isUppercase || $0 == "_" }
            text += name + "'"
            rest = rest.dropFirst(name.count)
        }
        return text + rest
    }
}

extension JSONValue {
    /// The value in a query.
    fileprivate var text: String { string ?? String(decoding: serialized(), as: UTF8.self) }
}

extension String {
    /// `group_id` as `groupId`.
    fileprivate var lowerCamel: String {
        let words = split(separator: "_")
        return (words.first ?? "") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
