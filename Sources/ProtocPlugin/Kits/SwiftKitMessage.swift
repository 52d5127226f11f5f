import SwiftProtobufPluginLibrary

/// A message as a Swift struct around its JSON, whose members are read when they are asked for. Stored properties would cost five
/// times the code: reading, writing, comparing, hashing and copying each of them. Properties and initializers that an app doesn't use are
/// not in its program.
struct SwiftKitMessage {
    let message: KitModel.Message

    func print(to printer: inout CodePrinter) {
        printer.print("", "extension Vestibule {")
        printer.withIndentation { printer in
            printer.print(lines: SwiftKit.documentation(message.comment))
            printer.print("public struct \(message.name): Message {")
            printer.withIndentation { printer in
                printer.print("@usableFromInline package let json: JSONObject", "")
                printer.print("@usableFromInline package init(json: JSONObject) { self.json = json }", "")
                for field in message.fields {
                    printer.print(lines: SwiftKit.documentation(field.comment))
                    printer.print("@_alwaysEmitIntoClient")
                    printer.print("public var \(field.swiftName): \(field.swiftType) { \(field.swiftRead) }")
                }
                printInitializer(to: &printer)
            }
            printer.print("}")
        }
        printer.print("}")
    }

    private func printInitializer(to printer: inout CodePrinter) {
        printer.print("", "/// A value with these fields, such as one for a preview or a test.")
        printer.print("@_alwaysEmitIntoClient", "public init(")
        printer.withIndentation { printer in
            printer.print(
                lines: message.fields.map { "\($0.swiftName): \($0.swiftType) = \($0.swiftDefault)" }.commaSeparated
            )
        }
        printer.print(") {")
        printer.withIndentation { printer in
            printer.print("var json = JSONObject()")
            for field in message.fields { printer.print(field.swiftWrite(field.swiftName)) }
            printer.print("self.init(json: json)")
        }
        printer.print("}")
    }
}

/// An enum as a Swift struct with constants: the server may have values that this version doesn't know.
struct SwiftKitEnum {
    let enumeration: KitModel.Enumeration

    func print(to printer: inout CodePrinter) {
        printer.print("", "extension Vestibule {")
        printer.withIndentation { printer in
            printer.print(lines: SwiftKit.documentation(enumeration.comment))
            printer.print(
                "///",
                "/// The server may have other values, by their names on the wire: a `switch` has a `default`."
            )
            printer.print("public struct \(enumeration.name): NamedValue {")
            printer.withIndentation { printer in
                printer.print("/// The name on the wire.", "public let rawValue: String", "")
                printer.print("public init(rawValue: String) { self.rawValue = rawValue }")
                for value in enumeration.values {
                    printer.print("")
                    printer.print(lines: SwiftKit.documentation(value.comment))
                    printer.print("@_alwaysEmitIntoClient")
                    let name = SwiftKit.caseName(value.shortName)
                    printer.print("public static var \(name): Self { Self(rawValue: \"\(value.name)\") }")
                }
            }
            printer.print("}")
        }
        printer.print("}")
    }
}
