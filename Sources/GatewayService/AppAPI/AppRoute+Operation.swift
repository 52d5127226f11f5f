import API
import HTTPJSON
import JOSE
import SwiftProtobuf

extension AppRoute {
    /// The route's entry in the OpenAPI document.
    var operation: OpenAPI.Operation {
        let options = described.options
        return OpenAPI.Operation(
            httpMethod,
            path,
            id: described.operationID,
            tag: described.tag,
            summary: described.summary,
            description: described.words,
            caller: options.caller.inDocument,
            parameters: pathFields.map { .init($0, .path) } + queryFields.map { .init($0, .query) }
                + headerFields.map { _ in .idempotencyKey },
            body: requestBody,
            answers: answers,
            problems: Set(described.errors.compactMap { OpenAPI.ProblemAnswer(rawValue: $0.http) })
        )
    }

    private var requestBody: OpenAPI.RequestBody? {
        guard !bodyFields.isEmpty else { return nil }
        let schema = OpenAPI.Schema.object(bodyFields.map(\.requestMember)).named(described.request.schemaName)
        return described.options.route.bodyOptional ? .optional(schema) : .required(schema)
    }

    private var answers: [Int: OpenAPI.Answer] {
        let route = described.options.route
        let status = route.status == 0 ? 200 : Int(route.status)
        var answers = [status: answer(route.success, isEmpty: status == 204)]
        if route.hasOther { answers[Int(route.other.status)] = answer(route.other.success, isEmpty: route.other.empty) }
        return answers
    }

    private func answer(_ success: String, isEmpty: Bool) -> OpenAPI.Answer {
        isEmpty ? .init(success) : .init(success, body.schema.named(body.schemaName))
    }
}

extension AppDescription.Method {
    /// The id of its route's operation, by which generated clients call it.
    var operationID: String { name.prefix(1).lowercased() + name.dropFirst() }

    /// The errors that the proto names.
    var errors: [ErrorCode] {
        options.errors.map { name in
            guard let error = ErrorCode.named(name) else {
                preconditionFailure("\(self.name) names the error \(name), which errors.proto doesn't have")
            }
            return error
        }
    }

    /// The description with the errors, for people; nil if there is nothing to say.
    fileprivate var words: String? {
        let errors = errors.map { "\($0.name) (\($0.http))" }.joined(separator: ", ")
        let parts = [description, errors.isEmpty ? nil : "Errors of its own: \(errors)."].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "\n\n")
    }

    fileprivate var tag: OpenAPI.Operation.Tag {
        switch service {
        case "AuthService": .auth
        case "AccountService": .profile
        case "GroupService": .groups
        default: .system
        }
    }
}

extension OptionsV1.Caller {
    fileprivate var inDocument: OpenAPI.Operation.Caller {
        switch self {
        case .unspecified, .UNRECOGNIZED: .user
        case .anyone: .anyone
        case .userOrAnyone: .userOrAnyone
        }
    }
}

extension OpenAPI.Parameter {
    /// A variable of a path that is a field of a message, too.
    static func inPath<M: Message>(_ name: String, of message: M.Type) -> Self {
        guard let field = AppDescription.current.shape(of: message).field(name) else {
            preconditionFailure("\(M.protoMessageName) has no field \(name)")
        }
        return Self(field, .path)
    }

    /// A field of a request that stands in the path or in the query.
    fileprivate init(_ field: FieldShape, _ place: Place) {
        let name = place == .path ? field.protoName : field.name
        self.init(
            component: name,
            name: name,
            place: place,
            // What an id is of, its name says; its comments differ, and a component has one.
            schema: field.schema(.request, isDescribed: false),
            description: field.options.format == "uuid" ? nil : field.description
        )
    }
}

extension OpenAPI.Schema {
    /// A message of the public API in a response.
    static func message<M: Message>(_ message: M.Type) -> Self {
        let shape = AppDescription.current.shape(of: message)
        return shape.schema.named(shape.schemaName)
    }
}

extension MessageShape {
    /// The schema of the message as a response has it.
    fileprivate var schema: OpenAPI.Schema { .object(responseMembers) }

    fileprivate var responseMembers: [OpenAPI.Schema.Member] {
        fields.flatMap { field -> [OpenAPI.Schema.Member] in
            if field.isHidden { return [] }
            if field.isInline, case .message(let inner) = field.kind { return inner.responseMembers }
            let schema = field.schema(.response)
            if case .message = field.kind, !field.isRepeated, !field.options.nullable {
                return [.optional(field.name, schema)]
            }
            return [.required(field.name, schema)]
        }
    }
}

extension FieldShape {
    fileprivate enum Direction { case request, response }

    fileprivate var requestMember: OpenAPI.Schema.Member {
        isOptional ? .optional(name, schema(.request)) : .required(name, schema(.request))
    }

    fileprivate func schema(_ direction: Direction, isDescribed: Bool = true) -> OpenAPI.Schema {
        let words = isDescribed && !isRepeated ? description : nil
        let element = elementSchema(direction, words)
        guard isRepeated else { return element }
        return .list(
            of: element,
            isDescribed ? description : nil,
            minItems: options.minItems == 0 ? nil : Int(options.minItems),
            maxItems: options.maxItems == 0 ? nil : Int(options.maxItems)
        )
    }

    private func elementSchema(_ direction: Direction, _ description: String?) -> OpenAPI.Schema {
        let orNull = options.nullable && !isRepeated
        switch kind {
        case .text:
            if !options.words.isEmpty { return .oneOf(options.words) }
            let isRequired = direction == .request && !isOptional
            let minLength = options.minLength == 0 && isRequired && !isFormatted ? 1 : Int(options.minLength)
            return .text(
                description,
                minLength: minLength == 0 ? nil : minLength,
                maxLength: options.maxLength == 0 ? nil : Int(options.maxLength),
                pattern: options.pattern.isEmpty ? nil : options.pattern,
                format: OpenAPI.Schema.Format(rawValue: options.format),
                orNull: orNull
            )
        case .truth: return description.map { .boolean($0, orNull: orNull) } ?? .bool
        case .integer:
            return .integer(
                description,
                minimum: options.hasMinimum ? Int(options.minimum) : nil,
                maximum: options.hasMaximum ? Int(options.maximum) : nil,
                default: options.hasDefault ? Int(options.default) : nil,
                orNull: orNull
            )
        case .moment: return .text(description, format: .dateTime, orNull: orNull)
        case .word(let all):
            let words = accepted(all)
            guard orNull else { return .oneOf(words) }
            // Generators of clients make nothing of an enum that has null.
            return .text(description, pattern: "^(\(words.joined(separator: "|")))$", orNull: true)
        case .message(let shape):
            if direction == .request {
                return .object(shape.fields.map(\.requestMember)).named(shape.schemaName)
            }
            if orNull { return .object(shape.responseMembers, description: description, orNull: true) }
            return .object(shape.responseMembers).named(shape.schemaName)
        }
    }

    private var isFormatted: Bool { !options.format.isEmpty || !options.pattern.isEmpty }
}
