import Foundation
import SwiftProtobufPluginLibrary

/// Writes the generated part of the JavaScript kit: tables for the programs, and types for editors and TypeScript.
enum JavaScriptKit: KitWriter {
    static func files(of model: KitModel) throws -> [KitFile] {
        [
            file("methods.js") { printer in printMethods(model, to: &printer) },
            file("shapes.js") { printer in printShapes(model, to: &printer) },
            file("refusals.js") { printer in
                // No call of the kit gets those of passkeys, recovery codes and proofs of possession.
                let others = ["PASSKEY_", "RECOVERY_", "DPOP_"]
                let refusals = model.errors.filter { error in
                    error.httpStatus == 401 && !others.contains(where: error.code.hasPrefix)
                }
                printActions("refusals", of: refusals, to: &printer)
            },
            file("actions.js") { printer in
                printActions("actions", of: model.errors.filter { $0.httpStatus != 401 }, to: &printer)
            },
            try file("texts.js") { printer in try printTexts(model, to: &printer) },
            file("credentials.d.ts") { printer in JavaScriptKitTypes(model: model).printCredentials(to: &printer) },
            file("messages.d.ts") { printer in JavaScriptKitTypes(model: model).print(to: &printer) },
        ]
    }

    private static func file(_ name: String, _ print: (inout CodePrinter) throws -> Void) rethrows -> KitFile {
        var printer = CodePrinter(indent: "  ".unicodeScalars, addNewlines: true)
        printer.print(FileStubs.mark)
        try print(&printer)
        return KitFile(name: name, contents: printer.content)
    }

    /// A word for each method: `r` reads, `i` is idempotent, `k` takes an idempotency key, `a` is for anyone; and then the field that
    /// is the whole response, if there is one.
    private static func printMethods(_ model: KitModel, to printer: inout CodePrinter) {
        printer.print("export const methods = {")
        printer.withIndentation { printer in
            for service in model.services {
                let methods = service.methods.filter { !$0.isOfCore }
                guard !methods.isEmpty else { continue }
                printer.print("\(service.name): {")
                printer.withIndentation { printer in
                    for method in methods {
                        let letters =
                            (method.isIdempotent ? "i" : "") + (method.idempotencyKey == nil ? "" : "k")
                            + (method.caller == .anyone ? "a" : "")
                        let content = model.content(of: method)?.jsonName
                        printer.print(
                            "\(method.name): \"\(([letters] + [content].compactMap(\.self)).joined(separator: " "))\","
                        )
                    }
                }
                printer.print("},")
            }
        }
        printer.print("};")
    }

    /// What JSON leaves out of the messages that apps receive: a word for each field that has a value when it is absent.
    private static func printShapes(_ model: KitModel, to printer: inout CodePrinter) {
        printer.print("export const shapes = {")
        printer.withIndentation { printer in
            for message in model.messages where message.isReceived {
                let fields = message.fields.compactMap { field in
                    shape(of: field, in: model).map { "\(field.jsonName):\($0)" }
                }
                guard !fields.isEmpty else { continue }
                printer.print("\(message.name): \"\(fields.joined(separator: " "))\",")
            }
        }
        printer.print("};")
    }

    private static func shape(of field: KitModel.Field, in model: KitModel) -> String? {
        if field.isRepeated {
            if case .message(let name) = field.type { return "*\(name)" }
            return "*"
        }
        return switch field.type {
        case .message(let name): name
        case .int64: field.isOptional ? "o" : "n"
        case _ where field.isOptional: nil
        case .bool: "b"
        case .int32: "n"
        case .string: "s"
        case .timestamp: nil
        case .enumeration(let name): model.enums.first { $0.name == name }?.values.first { $0.number == 0 }?.name
        }
    }

    /// The codes whose action the status alone doesn't say. The smaller module has those of 401 alone, which sign-ins and refreshes get.
    private static func printActions(_ name: String, of errors: [KitModel.ErrorCode], to printer: inout CodePrinter) {
        printer.print("export const \(name) = {")
        printer.withIndentation { printer in
            for action in ["refresh", "sign_in_again", "wait", "show", "fix_request", "retry"] {
                let codes = errors.filter { $0.action == action && usualAction(of: $0) != action }.map(\.code)
                guard !codes.isEmpty else { continue }
                printer.print("\(action): \"\(codes.joined(separator: " "))\",")
            }
        }
        printer.print("};")
    }

    /// How codes of 401 begin that refuse credentials or a session: `actions.js` has the same list, so that the tables have no more than the rest.
    private static let signInPrefixes = ["AUTHE", "SESS", "REFR", "ACCO", "TO", "CO", "NO", "TI", "PR"]

    /// docs/reference/error-codes.md: what an app does about a code that it doesn't know.
    private static func usualAction(of error: KitModel.ErrorCode) -> String {
        switch error.httpStatus {
        case 401: signInPrefixes.contains { error.code.hasPrefix($0) } ? "sign_in_again" : "refresh"
        case 429, 503: "wait"
        case ..<500: "show"
        default: "retry"
        }
    }

    private static func printTexts(_ model: KitModel, to printer: inout CodePrinter) throws {
        printer.print("export const texts = {")
        for text in model.texts {
            printer.print("  \(try literal(text.language)): {")
            for (code, sentence) in text.sentences { printer.print("    \(code): \(try literal(sentence)),") }
            printer.print("  },")
        }
        printer.print("};")
    }

    /// A text as JSON, which is JavaScript, too.
    private static func literal(_ text: String) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(text), as: UTF8.self)
    }
}

extension KitModel {
    /// The only field of a method's response, if that is a message that is always there: apps get what it holds.
    func content(of method: Method) -> Field? {
        guard let fields = messages.first(where: { $0.name == method.response })?.fields, fields.count == 1,
            !fields[0].isRepeated,
            !fields[0].isOptional, case .message = fields[0].type
        else { return nil }
        return fields[0]
    }
}
