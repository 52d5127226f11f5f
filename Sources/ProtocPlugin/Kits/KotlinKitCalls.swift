import SwiftProtobufPluginLibrary

/// The methods as suspending functions. Fields of the request are parameters; a response of one message is that message, and an empty
/// one is nothing.
struct KotlinKitCalls {
    let model: KitModel

    /// Messages that apps see as types. What only the hand-written part sends and receives has tokens, and no type.
    var shownMessages: [KitModel.Message] {
        let methods = model.services.flatMap(\.methods).filter { !$0.isOfCore || $0.streamsResponses }
        var names: Set<String> = []
        for method in methods {
            if let response = message(method.response), !response.fields.isEmpty {
                if let content = content(of: response) { add(content, to: &names) } else { add(response, to: &names) }
            }
            for field in message(method.request)?.fields ?? [] { add(field, to: &names) }
        }
        return model.messages.filter { names.contains($0.name) }
    }

    private func add(_ field: KitModel.Field, to names: inout Set<String>) {
        if case .message(let name) = field.type, let part = message(name) { add(part, to: &names) }
    }

    private func add(_ message: KitModel.Message, to names: inout Set<String>) {
        guard names.insert(message.name).inserted else { return }
        for field in message.fields { add(field, to: &names) }
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
        let methods = model.services.flatMap(\.methods)
        printer.print("", "/** What the kit knows of each method. */", "internal object Methods {")
        printer.withIndentation { printer in
            for method in methods {
                let key = method.idempotencyKey.map { ", idempotencyKey = \"\($0)\"" } ?? ""
                printer.print("val \(KotlinKit.methodName(method.name)): CallMethod = CallMethod(")
                printer.printIndented(
                    "\"\(method.path)\", MethodCaller.\(caller(method)), isIdempotent = \(method.isIdempotent)\(key),"
                )
                printer.print(")")
            }
            printer.print("", "/** All methods. */", "val all: List<CallMethod>")
            printer.printIndented("get() = listOf(")
            printer.withIndentation { printer in
                for method in methods { printer.printIndented("\(KotlinKit.methodName(method.name)),") }
            }
            printer.printIndented(")")
        }
        printer.print("}")
    }

    private func caller(_ method: KitModel.Method) -> String {
        switch method.caller {
        case .user: "USER"
        case .anyone: "ANYONE"
        case .userOrAnyone: "USER_OR_ANYONE"
        }
    }

    private func printService(_ service: KitModel.Service, to printer: inout CodePrinter) {
        let methods = service.methods.filter { !$0.isOfCore }
        guard !methods.isEmpty else { return }
        printer.print("", "/** Calls of `\(service.name)`. */")
        printer.print("public val Vestibule.\(service.member): \(service.name)")
        printer.printIndented("get() = \(service.name)(this)")
        printer.print("")
        printer.print(lines: KotlinKit.documentation(service.comment))
        printer.print("public class \(service.name) internal constructor(private val client: Vestibule) {")
        printer.withIndentation { printer in
            for (index, method) in methods.enumerated() {
                if index > 0 { printer.print("") }
                printMethod(method, to: &printer)
            }
        }
        printer.print("}")
    }

    private func printMethod(_ method: KitModel.Method, to printer: inout CodePrinter) {
        guard let request = message(method.request), let response = message(method.response) else { return }
        let fields = request.fields.filter { $0.jsonName != method.idempotencyKey }
        let parameters = fields.flatMap { KotlinKit.documentation(of: $0.kotlinName, $0.comment) }
        printer.print(lines: KotlinKit.documentation(method.comment, and: parameters + ["@throws VestibuleException"]))
        printer.print("public suspend fun \(KotlinKit.methodName(method.name))(")
        printer.withIndentation { printer in
            for field in fields {
                let standard = field.mayBeLeftOut ? " = \(field.kotlinDefault)" : ""
                printer.print("\(field.kotlinName): \(field.kotlinType)\(standard),")
            }
            printer.print("options: CallOptions = CallOptions.DEFAULT,")
        }
        let content = content(of: response)
        let result = response.fields.isEmpty ? "Unit" : content?.kotlinType ?? response.name
        printer.print("): \(result) = client.call(")
        printer.withIndentation { printer in
            printer.print("Methods.\(KotlinKit.methodName(method.name)),")
            if fields.isEmpty {
                printer.print("emptyMap(),")
            } else {
                printer.print("present(")
                for field in fields { printer.printIndented("\(field.kotlinPair),") }
                printer.print("),")
            }
            printer.print("options,")
        }
        if response.fields.isEmpty {
            printer.print(") { }")
        } else if let content {
            printer.print(") { json -> \(content.kotlinRead) }")
        } else {
            printer.print(") { json -> \(response.name).fromJson(json) }")
        }
    }
}
