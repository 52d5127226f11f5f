import SwiftProtobufPluginLibrary

/// The types of messages and methods, as TypeScript has them: parts of the file that `bundle.sh` makes.
struct JavaScriptKitTypes {
    /// The credentials of a sign-in, which the smaller module has, too.
    private static let credentials = "SignInWithProviderRequest"
    /// What only the kit itself sends and receives.
    private static let ofCore: Set = [
        credentials, "SignInWithProviderResponse", "SessionTokens", "RefreshSessionRequest", "RefreshSessionResponse",
        "SignOutRequest",
        "DeleteMeRequest", "LinkProviderRequest", "LinkProviderResponse", "SignOutEverywhereRequest",
        "WatchGroupsRequest", "SignInAsGuestRequest", "SignInAsGuestResponse", "CreateGuestChallengeRequest",
        "CreateGuestChallengeResponse",
    ]

    let model: KitModel

    func printCredentials(to printer: inout CodePrinter) {
        for message in model.messages where message.name == Self.credentials { printMessage(message, to: &printer) }
    }

    func print(to printer: inout CodePrinter) {
        for enumeration in model.enums { printEnum(enumeration, to: &printer) }
        for message in model.messages where !message.fields.isEmpty && !Self.ofCore.contains(message.name) {
            printMessage(message, to: &printer)
        }
        printer.print("", "/** The methods of the services. */", "export interface Methods {")
        printer.withIndentation { printer in
            for method in model.services.flatMap(\.methods) where !method.isOfCore { printMethod(method, to: &printer) }
        }
        printer.print("}")
    }

    /// A text, as more values may come.
    private func printEnum(_ enumeration: KitModel.Enumeration, to printer: inout CodePrinter) {
        printComment(enumeration.comment, to: &printer)
        printer.print("export type \(enumeration.name) =")
        printer.withIndentation { printer in
            for value in enumeration.values {
                printComment(value.comment, to: &printer)
                printer.print("| \"\(value.name)\"")
            }
            printer.print("| (string & {});")
        }
    }

    private func printMessage(_ message: KitModel.Message, to printer: inout CodePrinter) {
        printComment(message.comment, to: &printer)
        printer.print("export interface \(name(of: message.name)) {")
        printer.withIndentation { printer in
            for field in message.fields {
                printComment(field.comment, to: &printer)
                printer.print("\(field.jsonName)\(mayBeAbsent(field, in: message) ? "?" : ""): \(type(of: field));")
            }
        }
        printer.print("}")
    }

    /// What apps receive is completed by the kit, but for messages and times, which may be absent. Of credentials only some are there.
    private func mayBeAbsent(_ field: KitModel.Field, in message: KitModel.Message) -> Bool {
        if message.name == Self.credentials { return field.jsonName != "provider" }
        if field.isRepeated { return field.mayBeLeftOut }
        let isObject =
            switch field.type {
            case .message, .timestamp: !model.isContent(field, of: message)
            default: false
            }
        return field.isOptional || (message.isSent && field.mayBeLeftOut) || (message.isReceived && isObject)
    }

    private func printMethod(_ method: KitModel.Method, to printer: inout CodePrinter) {
        let request = model.messages.first { $0.name == method.request }
        let response = model.messages.first { $0.name == method.response }
        let needsRequest = request?.fields.contains { !mayBeAbsent($0, in: request!) } ?? false
        let parameter =
            request?.fields.isEmpty ?? true ? "request?: {}" : "request\(needsRequest ? "" : "?"): \(method.request)"
        let content = model.content(of: method).map(type) ?? (response?.fields.isEmpty ?? true ? "{}" : method.response)
        printComment(method.comment, to: &printer)
        let name = method.name.prefix(1).lowercased() + method.name.dropFirst()
        printer.print("\(name)(\(parameter), options?: CallOptions): Promise<\(content)>;")
    }

    private func type(of field: KitModel.Field) -> String {
        let element =
            switch field.type {
            case .bool: "boolean"
            case .int32, .int64: "number"
            case .string, .timestamp: "string"
            case .message(let name), .enumeration(let name): self.name(of: name)
            }
        return field.isRepeated ? "\(element)[]" : element
    }

    private func name(of message: String) -> String { message == Self.credentials ? "Credentials" : message }

    private func printComment(_ comment: [String], to printer: inout CodePrinter) {
        guard !comment.isEmpty else { return }
        guard comment.count > 1 else { return printer.print("/** \(comment[0]) */") }
        printer.print("/**")
        for line in comment { printer.print(line.isEmpty ? " *" : " * \(line)") }
        printer.print(" */")
    }
}

extension KitModel {
    /// Whether the field is what a response is for.
    func isContent(_ field: Field, of message: Message) -> Bool {
        message.isResponse && message.fields.count == 1 && !field.isRepeated && !field.isOptional
            && message.fields[0].name == field.name
    }
}
