import SwiftProtobufPluginLibrary

/// The table of an enum whose values stand for errors.
struct ErrorTableStub {
    let enumeration: EnumDescriptor
    let namespace: String

    /// Prints the table, unless no value stands for an error.
    func print(to printer: inout CodePrinter) throws {
        let rows = try enumeration.values.compactMap { value in try ErrorValueOptions(value).map { (value, $0) } }
        guard !rows.isEmpty else { return }
        printer.print("", "extension \(namespace) {")
        printer.withIndentation { printer in
            printer.print("/// The values of `\(enumeration.name)`, in the order of the proto.")
            printer.print("public static let errorCodes: [ErrorCode] = [")
            printer.withIndentation { printer in
                for (value, options) in rows { printRow(value, options, to: &printer) }
            }
            printer.print("]")
        }
        printer.print("}")
    }

    private func printRow(_ value: EnumValueDescriptor, _ options: ErrorValueOptions, to printer: inout CodePrinter) {
        let grpc = options.grpc.map { ".\($0)" } ?? "nil"
        printer.print("ErrorCode(")
        printer.printIndented(
            "\"\(Self.name(of: value, in: enumeration))\", http: \(options.http), grpc: \(grpc), action: .\(options.action),",
            "description: \"\(sentence(of: value))\""
        )
        printer.print("),")
    }

    /// The value's name without the enum's, which stands before all of them.
    static func name(of value: EnumValueDescriptor, in enumeration: EnumDescriptor) -> String {
        let words = enumeration.name.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
        let prefix = words.dropFirst() + "_"
        return value.name.hasPrefix(prefix) ? String(value.name.dropFirst(prefix.count)) : value.name
    }

    private func sentence(of value: EnumValueDescriptor) -> String {
        DocComment.text(of: value).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
