import SwiftProtobufPluginLibrary

/// Writes the generated part of the Kotlin kit.
enum KotlinKit: KitWriter {
    static func files(of model: KitModel) throws -> [KitFile] {
        let calls = KotlinKitCalls(model: model)
        return [
            file("Calls") { printer in calls.print(to: &printer) },
            file("Enums") { printer in
                for enumeration in model.enums { KotlinKitEnum(enumeration: enumeration).print(to: &printer) }
            },
            file("ErrorCodes") { printer in KotlinKitErrors(errors: model.errors).print(to: &printer) },
            file("ErrorTextLines") { printer in KotlinKitTexts(texts: model.texts).print(to: &printer) },
            file("Messages", importing: ["java.time.Instant"]) { printer in
                for message in calls.shownMessages { KotlinKitMessage(message: message).print(to: &printer) }
            },
        ]
    }

    private static func file(
        _ name: String,
        importing names: [String] = [],
        _ print: (inout CodePrinter) -> Void
    ) -> KitFile {
        var printer = CodePrinter(indent: FileStubs.indent.unicodeScalars, addNewlines: true)
        printer.print(FileStubs.mark, "", "package vestibule")
        if !names.isEmpty { printer.print("") }
        for name in names { printer.print("import \(name)") }
        print(&printer)
        return KitFile(name: "\(name).kt", contents: printer.content)
    }

    /// The comment as KDoc, with further lines such as those of parameters.
    static func documentation(_ comment: [String], and more: [String] = []) -> [String] {
        let lines = (comment + (more.isEmpty ? [] : [""] + more)).map(escaped)
        if lines.count <= 1 { return lines.map { "/** \($0) */" } }
        return ["/**"] + lines.map { $0.isEmpty ? " *" : " * \($0)" } + [" */"]
    }

    /// The comment as the documentation of a parameter.
    static func documentation(of parameter: String, _ comment: [String]) -> [String] {
        comment.enumerated().map { index, line in index == 0 ? "@param \(parameter) \(line)" : "  \(line)" }
    }

    /// Comments of Kotlin nest, and end as soon as they can.
    private static func escaped(_ line: String) -> String {
        line.replacing("*/", with: "*&#47;").replacing("/*", with: "/&#42;")
    }

    /// `createGroup`.
    static func methodName(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }
}

extension KitModel.Field {
    /// The property of the field, which is also its name on the wire.
    var kotlinName: String { jsonName }

    /// The Kotlin type of one value.
    private var kotlinElement: String {
        switch type {
        case .bool: "Boolean"
        case .int32: "Int"
        case .int64: "Long"
        case .string: "String"
        case .timestamp: "Instant"
        case .message(let name), .enumeration(let name): name
        }
    }

    /// An enum has a value of its own for what is absent.
    private var isKotlinNullable: Bool {
        if case .enumeration = type { return false }
        return isOptional
    }

    var kotlinType: String {
        if isRepeated { return "List<\(kotlinElement)>" }
        return isKotlinNullable ? "\(kotlinElement)?" : kotlinElement
    }

    /// The value of a field that is absent.
    var kotlinDefault: String {
        if isRepeated { return "emptyList()" }
        if isKotlinNullable { return "null" }
        return switch type {
        case .bool: "false"
        case .int32, .int64: "0"
        case .string: "\"\""
        case .timestamp: "Instant.EPOCH"
        case .message(let name): "\(name)()"
        case .enumeration(let name): "\(name).UNSPECIFIED"
        }
    }

    /// The pair for `present`, which leaves out null.
    var kotlinPair: String {
        let value =
            switch type {
            case .bool, .int32, .int64, .string: kotlinName
            case .timestamp where isRepeated: "\(kotlinName).map { it.toString() }"
            case .timestamp: isKotlinNullable ? "\(kotlinName)?.toString()" : "\(kotlinName).toString()"
            case .message where isRepeated: "\(kotlinName).map { it.toJson() }"
            case .message: isKotlinNullable ? "\(kotlinName)?.toJson()" : "\(kotlinName).toJson()"
            case .enumeration where isRepeated: "\(kotlinName).map { it.toJson() }"
            case .enumeration: "\(kotlinName).toJson()"
            }
        return "\"\(jsonName)\" to \(value)"
    }

    /// The expression that reads it from `json`.
    var kotlinRead: String {
        let argument = "\"\(jsonName)\""
        if isRepeated {
            return switch type {
            case .message(let name): "json.messages(\(argument), \(name)::fromJson)"
            case .enumeration(let name): "json.texts(\(argument)).map(\(name)::of)"
            default: "json.texts(\(argument))"
            }
        }
        let name =
            switch type {
            case .bool: "boolean"
            case .int32: "int"
            case .int64: "long"
            case .string: "string"
            case .timestamp: "instant"
            case .message(let message): "message(\(argument), \(message)::fromJson)"
            case .enumeration: "string"
            }
        switch type {
        case .message(let message): return isKotlinNullable ? "json.\(name)" : "json.\(name) ?: \(message)()"
        case .enumeration(let enumeration): return "\(enumeration).of(json.\(name)(\(argument)))"
        default: return isKotlinNullable ? "json.\(name)(\(argument))" : "json.\(name)(\(argument)) ?: \(kotlinDefault)"
        }
    }
}
