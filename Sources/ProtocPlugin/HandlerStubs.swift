import SwiftProtobufPluginLibrary

/// `protocol <Service>Handler`: what a service implements, and how it becomes known to a router.
struct HandlerStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    func print(to printer: inout CodePrinter) {
        printProtocol(to: &printer)
        printRegistration(to: &printer)
    }

    private func printProtocol(to printer: inout CodePrinter) {
        printer.print("")
        printer.print(lines: DocComment.lines(of: service, fallback: "Answers `\(service.fullName)`."))
        guard !service.methods.isEmpty else {
            printer.print("public protocol \(service.name)Handler: RPCService {}")
            return
        }
        printer.print("public protocol \(service.name)Handler: RPCService {")
        printer.withIndentation { printer in
            for (index, method) in service.methods.enumerated() {
                if index > 0 { printer.print("") }
                printer.print(lines: DocComment.lines(of: method, fallback: "Answers `\(method.fullName)`."))
                printRequirement(for: method, to: &printer)
            }
        }
        printer.print("}")
    }

    private func printRequirement(for method: MethodDescriptor, to printer: inout CodePrinter) {
        let shape = CallShape(method)
        let request = names.name(of: method.inputType)
        let response = names.name(of: method.outputType)
        var parameters = [
            shape.streamsRequests ? "_ requests: MessageReader<\(request)>," : "_ request: \(request),"
        ]
        if shape.streamsResponses { parameters.append("responses: MessageWriter<\(response)>,") }
        parameters.append("context: ServerContext")
        printer.print("func \(names.methodName(of: method))(")
        printer.withIndentation { printer in printer.print(lines: parameters) }
        printer.print(shape.streamsResponses ? ") async throws" : ") async throws -> \(response)")
    }

    private func printRegistration(to printer: inout CodePrinter) {
        printer.print(
            "",
            "extension \(service.name)Handler {"
        )
        printer.withIndentation { printer in
            printer.print("/// Adds the methods of `\(service.fullName)` to a router.")
            guard !service.methods.isEmpty else {
                printer.print("public func register(in router: inout Router) {}")
                return
            }
            printer.print("public func register(in router: inout Router) {")
            printer.withIndentation { printer in
                for method in service.methods { printRoute(to: method, printer: &printer) }
            }
            printer.print("}")
        }
        printer.print("}")
    }

    private func printRoute(to method: MethodDescriptor, printer: inout CodePrinter) {
        let shape = CallShape(method)
        let first = shape.streamsRequests ? "requests" : "request"
        let received = shape.streamsResponses ? "\(first), responses, context" : "\(first), context"
        let given = first + (shape.streamsResponses ? ", responses: responses" : "") + ", context: context"
        printer.print("router.\(shape.rawValue)(")
        printer.withIndentation { printer in
            printer.print("\(service.name)Methods.\(names.descriptorName(of: method)),")
            printer.print("request: \(names.name(of: method.inputType)).self,")
            printer.print("response: \(names.name(of: method.outputType)).self")
        }
        printer.print(") { \(received) in")
        printer.printIndented("try await self.\(names.methodName(of: method))(\(given))")
        printer.print("}")
    }
}
