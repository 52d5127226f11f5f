import SwiftProtobufPluginLibrary

/// The namespace of a package with short names for its top-level messages and enums; what is nested in a message is
/// reached through it (`HealthV1.HealthCheckResponse.ServingStatus`).
struct NamespaceStubs {
    let file: FileDescriptor
    let names: SwiftNames

    func print(to printer: inout CodePrinter) {
        let namespace = names.namespace(ofPackage: file.package)
        let declares = names.declaresNamespace(file)
        if declares { printer.print("/// The package `\(file.package)`.") }
        let aliases = enumAliases + messageAliases
        guard !aliases.isEmpty else {
            if declares { printer.print("public enum \(namespace) {}") }
            return
        }
        printer.print("\(declares ? "public enum" : "extension") \(namespace) {")
        printer.withIndentation { printer in
            for (index, alias) in aliases.enumerated() {
                if index > 0 { printer.print("") }
                printer.print(lines: alias)
            }
        }
        printer.print("}")
    }

    private var messageAliases: [[String]] {
        file.messages.map { message in
            DocComment.lines(of: message, fallback: "The message `\(message.fullName)`.")
                + ["public typealias \(names.alias(of: message)) = \(names.generatedName(of: message))"]
        }
    }

    private var enumAliases: [[String]] {
        file.enums.map { enumeration in
            DocComment.lines(of: enumeration, fallback: "The enum `\(enumeration.fullName)`.")
                + ["public typealias \(names.alias(of: enumeration)) = \(names.generatedName(of: enumeration))"]
        }
    }
}
