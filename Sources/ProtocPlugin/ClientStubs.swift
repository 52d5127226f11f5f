import SwiftProtobufPluginLibrary

/// `struct <Service>Client`: the service as its callers see it.
struct ClientStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    func print(to printer: inout CodePrinter) {
        printer.print("")
        printer.print(lines: DocComment.lines(of: service, fallback: "Calls `\(service.fullName)`."))
        printer.print("public struct \(service.name)Client: Sendable {")
        printer.withIndentation { printer in
            printer.print(
                "private let channel: any ClientChannel",
                "",
                "/// A client that calls over `channel`; it neither opens nor closes it.",
                "public init(_ channel: any ClientChannel) {"
            )
            printer.printIndented("self.channel = channel")
            printer.print("}")
            for method in service.callableMethods {
                printer.print("")
                printCall(of: method, to: &printer)
            }
        }
        printer.print("}")
    }

    private func printCall(of method: MethodDescriptor, to printer: inout CodePrinter) {
        let response = names.name(of: method.outputType)
        printer.print(lines: DocComment.lines(of: method, fallback: "Calls `\(method.fullName)`."))
        printer.print("public func \(names.methodName(of: method))(")
        printer.printIndented(
            "_ request: \(names.name(of: method.inputType)),",
            "options: CallOptions = CallOptions()"
        )
        printer.print(") async throws(RPCError) -> \(response) {")
        printer.withIndentation { printer in
            printer.print("try await channel.\(CallShape(method).rawValue)(")
            printer.withIndentation { printer in
                printer.print("\(service.name)Methods.\(names.descriptorName(of: method)),")
                printer.print("request,")
                printer.print("response: \(response).self,")
                printer.print("options: options")
            }
            printer.print(")")
        }
        printer.print("}")
    }
}
