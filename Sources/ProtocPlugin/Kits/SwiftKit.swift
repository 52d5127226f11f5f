import SwiftProtobufPluginLibrary

/// Writes the generated part of the Swift kit.
enum SwiftKit: KitWriter {
    static func files(of model: KitModel) throws -> [KitFile] {
        let calls = SwiftKitCalls(model: model)
        return [
            file("Calls") { printer in calls.print(to: &printer) },
            file("Enums") { printer in
                for enumeration in model.enums { SwiftKitEnum(enumeration: enumeration).print(to: &printer) }
            },
            file("Codes") { printer in SwiftKitErrors(errors: model.errors).print(to: &printer) },
            file("Texts") { printer in SwiftKitTexts(texts: model.texts).print(to: &printer) },
            file("Messages", importing: ["Foundation"]) { printer in
                for message in model.messages where calls.hasType(message) {
                    SwiftKitMessage(message: message).print(to: &printer)
                }
            },
        ]
    }

    private static func file(
        _ name: String,
        importing modules: [String] = [],
        _ print: (inout CodePrinter) -> Void
    ) -> KitFile {
        var printer = CodePrinter(indent: FileStubs.indent.unicodeScalars, addNewlines: true)
        printer.print(FileStubs.mark)
        if !modules.isEmpty { printer.print("") }
        for module in modules { printer.print("import \(module)") }
        print(&printer)
        return KitFile(name: "\(name).swift", contents: printer.content)
    }

    /// The comment as documentation.
    static func documentation(_ comment: [String]) -> [String] {
        comment.map { $0.isEmpty ? "///" : "/// \($0)" }
    }

    /// The comment as the documentation of a parameter.
    static func documentation(of parameter: String, _ comment: [String]) -> [String] {
        comment.enumerated().map { index, line in index == 0 ? "///   - \(parameter): \(line)" : "///     \(line)" }
    }

    /// `phoneNumber`, `groupID`, `avatarURL`.
    static func propertyName(_ protoName: String) -> String {
        SwiftNames.escaped(NamingUtils.toLowerCamelCase(protoName))
    }

    /// `createGroup`.
    static func methodName(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// `requireProof` for `REQUIRE_PROOF`.
    static func caseName(_ name: String) -> String {
        SwiftNames.escaped(NamingUtils.toLowerCamelCase(name.lowercased()))
    }
}

extension KitModel.Field {
    /// The property of the field.
    var swiftName: String { SwiftKit.propertyName(name) }

    /// The Swift type of one value.
    private var swiftElement: String {
        switch type {
        case .bool: "Bool"
        case .int32: "Int32"
        case .int64: "Int64"
        case .string: "String"
        case .timestamp: "Date"
        case .message(let name), .enumeration(let name): name
        }
    }

    /// An enum has a value of its own for what is absent.
    private var isSwiftOptional: Bool {
        if case .enumeration = type { return false }
        return isOptional
    }

    var swiftType: String {
        if isRepeated { return "[\(swiftElement)]" }
        return isSwiftOptional ? "\(swiftElement)?" : swiftElement
    }

    /// The value of a field that is absent.
    var swiftDefault: String {
        if isRepeated { return "[]" }
        if isSwiftOptional { return "nil" }
        return switch type {
        case .bool: "false"
        case .int32, .int64: "0"
        case .string: "\"\""
        case .timestamp: "Date(timeIntervalSince1970: 0)"
        case .message(let name): "\(name)()"
        case .enumeration: ".unspecified"
        }
    }

    /// The statement that adds the field to a `JSONObject`. The functions that it calls are overloaded by type.
    func swiftWrite(_ value: String) -> String { "json.set(\"\(jsonName)\", \(value))" }

    /// The function of `JSONObject` that reads it.
    var swiftRead: String {
        "json.\(isRepeated ? "list" : isSwiftOptional ? "optional" : "value")(\"\(jsonName)\")"
    }
}
