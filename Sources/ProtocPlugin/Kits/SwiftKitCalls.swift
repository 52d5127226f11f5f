import SwiftProtobufPluginLibrary

/// The methods as functions of the client. Fields of the request are parameters; a response of one message is that message, and an
/// empty one is nothing.
struct SwiftKitCalls {
    let model: KitModel

    /// Whether apps see the message as a type: requests are parameters, and some responses are what they hold.
    func hasType(_ message: KitModel.Message) -> Bool {
        !message.isRequest && (message.isResponse ? isPart(message) || isWhole(message) : true)
    }

    /// Whether a function returns the response, and not what it holds.
    private func isWhole(_ response: KitModel.Message) -> Bool {
        !response.fields.isEmpty && content(of: response) == nil
    }

    private func isPart(_ message: KitModel.Message) -> Bool {
        model.messages.flatMap(\.fields).contains { $0.type == .message(message.name) }
    }

    /// The only field of a response, if that is a message that is always there.
    private func content(of response: KitModel.Message) -> KitModel.Field? {
        guard let field = response.fields.first, response.fields.count == 1, !field.isRepeated, !field.isOptional,
            case .message = field.type
        else { return nil }
        return field
    }

    private func message(_ name: String) -> KitModel.Message? { model.messages.first { $0.name == name } }

    func print(to printer: inout CodePrinter) {
        printTable(to: &printer)
        for service in model.services { printService(service, to: &printer) }
    }

    /// What the kit knows of each method.
    private func printTable(to printer: inout CodePrinter) {
        printer.print("", "extension CallMethod {")
        printer.withIndentation { printer in
            for method in model.services.flatMap(\.methods) {
                let key = method.idempotencyKey.map { ", idempotencyKey: \"\($0)\"" } ?? ""
                printer.print("@usableFromInline")
                printer.print("package static let \(SwiftKit.methodName(method.name)) = CallMethod(")
                printer.printIndented(
                    "\"\(method.path)\", caller: .\(method.caller), isIdempotent: \(method.isIdempotent)\(key)"
                )
                printer.print(")")
            }
            printer.print("", "/// All methods.", "package static let all = [")
            printer.withIndentation { printer in
                for method in model.services.flatMap(\.methods) {
                    printer.print("\(SwiftKit.methodName(method.name)),")
                }
            }
            printer.print("]")
        }
        printer.print("}")
    }

    private func printService(_ service: KitModel.Service, to printer: inout CodePrinter) {
        let methods = service.methods.filter { !$0.isOfCore }
        guard !methods.isEmpty else { return }
        printer.print("", "extension Vestibule {")
        printer.withIndentation { printer in
            printer.print(lines: SwiftKit.documentation(service.comment))
            printer.print("public var \(service.member): \(service.name) { \(service.name)(client: self) }")
            printer.print("", "/// Calls of `\(service.name)`: see ``Vestibule/\(service.member)``.")
            printer.print("public struct \(service.name): Sendable {")
            printer.withIndentation { printer in
                printer.print("@usableFromInline let client: Vestibule", "")
                printer.print("@usableFromInline init(client: Vestibule) { self.client = client }")
                for method in methods { printMethod(method, to: &printer) }
            }
            printer.print("}")
        }
        printer.print("}")
    }

    private func printMethod(_ method: KitModel.Method, to printer: inout CodePrinter) {
        guard let request = message(method.request), let response = message(method.response) else { return }
        let fields = request.fields.filter { $0.jsonName != method.idempotencyKey }
        printer.print("")
        printer.print(lines: SwiftKit.documentation(method.comment))
        printer.print("///", "/// - Parameters:")
        for field in fields { printer.print(lines: SwiftKit.documentation(of: field.swiftName, field.comment)) }
        printer.print("///   - deadline: How long the call may take, retries among it; the client's if absent.")
        printer.print("/// - Throws: ``VestibuleError``, or `CancellationError` if the task is cancelled.")
        printer.print("@_alwaysEmitIntoClient")
        printer.print("public func \(SwiftKit.methodName(method.name))(")
        let parameters = fields.map { field in
            "\(field.swiftName): \(field.swiftType)" + (field.mayBeLeftOut ? " = \(field.swiftDefault)" : "")
        }
        printer.withIndentation { printer in
            printer.print(lines: (parameters + ["deadline: Duration? = nil"]).commaSeparated)
        }
        let content = content(of: response)
        let contentType = content?.swiftType ?? response.name
        let result = response.fields.isEmpty ? "" : " -> \(contentType)"
        printer.print(") async throws\(result) {")
        printer.withIndentation { printer in
            printer.print("\(fields.isEmpty ? "let" : "var") json = JSONObject()")
            for field in fields { printer.print(field.swiftWrite(field.swiftName)) }
            let arguments = ".\(SwiftKit.methodName(method.name)), json, "
            if response.fields.isEmpty {
                printer.print("_ = try await client.call(\(arguments)deadline: deadline)")
            } else {
                let json = "try await client.call(\(arguments)deadline: deadline)"
                if let content {
                    printer.print("return \(json).value(\"\(content.jsonName)\")")
                } else {
                    printer.print("return \(response.name)(json: \(json))")
                }
            }
        }
        printer.print("}")
    }
}
