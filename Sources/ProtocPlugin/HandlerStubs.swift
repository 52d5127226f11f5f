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
        guard !service.callableMethods.isEmpty else {
            printer.print("public protocol \(service.name)Handler: RPCService {}")
            return
        }
        printer.print("public protocol \(service.name)Handler: RPCService {")
        printer.withIndentation { printer in
            for (index, method) in service.callableMethods.enumerated() {
                if index > 0 { printer.print("") }
                printer.print(lines: DocComment.lines(of: method, fallback: "Answers `\(method.fullName)`."))
                printRequirement(for: method, to: &printer)
            }
        }
        printer.print("}")
    }

    private func printRequirement(for method: MethodDescriptor, to printer: inout CodePrinter) {
        printer.print("func \(names.methodName(of: method))(")
        printer.printIndented("_ request: \(names.name(of: method.inputType)),", "context: ServerContext")
        printer.print(") async throws -> \(names.name(of: method.outputType))")
    }

    private func printRegistration(to printer: inout CodePrinter) {
        printer.print(
            "",
            "extension \(service.name)Handler {"
        )
        printer.withIndentation { printer in
            printer.print("/// Adds the methods of `\(service.fullName)` to a router.")
            guard !service.callableMethods.isEmpty else {
                printer.print("public func register(in router: inout Router) {}")
                return
            }
            printer.print("public func register(in router: inout Router) {")
            printer.withIndentation { printer in
                for method in service.callableMethods { printRoute(to: method, printer: &printer) }
            }
            printer.print("}")
        }
        printer.print("}")
    }

    private func printRoute(to method: MethodDescriptor, printer: inout CodePrinter) {
        printer.print("router.\(CallShape(method).rawValue)(")
        printer.withIndentation { printer in
            printer.print("\(service.name)Methods.\(names.descriptorName(of: method)),")
            printer.print("request: \(names.name(of: method.inputType)).self,")
            printer.print("response: \(names.name(of: method.outputType)).self")
        }
        printer.print(") { request, context in")
        printer.printIndented("try await self.\(names.methodName(of: method))(request, context: context)")
        printer.print("}")
    }
}
