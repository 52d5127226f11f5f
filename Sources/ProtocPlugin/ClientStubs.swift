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
            for method in service.methods {
                printer.print("")
                printer.print(lines: DocComment.lines(of: method, fallback: "Calls `\(method.fullName)`."))
                call(of: method).print(to: &printer)
            }
        }
        printer.print("}")
    }

    private func call(of method: MethodDescriptor) -> ClientCallStub {
        ClientCallStub(
            shape: CallShape(method),
            name: names.methodName(of: method),
            descriptor: "\(service.name)Methods.\(names.descriptorName(of: method))",
            request: names.name(of: method.inputType),
            response: names.name(of: method.outputType)
        )
    }
}
