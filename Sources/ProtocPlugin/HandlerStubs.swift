import SwiftProtobufPluginLibrary

/// `protocol <Service>Handler`: what a service implements, and how it becomes known to a router.
struct HandlerStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    private var methods: [MethodDescriptor] { ServiceOptions(service).implementedMethods }

    func print(to printer: inout CodePrinter) {
        printProtocol(to: &printer)
        printRegistration(to: &printer)
    }

    private func printProtocol(to printer: inout CodePrinter) {
        printer.print("")
        printer.print(lines: DocComment.lines(of: service, fallback: "Answers `\(service.fullName)`."))
        guard !methods.isEmpty else {
            printer.print("public protocol \(service.name)Handler: RPCService {}")
            return
        }
        printer.print("public protocol \(service.name)Handler: RPCService {")
        printer.withIndentation { printer in
            for (index, method) in methods.enumerated() {
                if index > 0 { printer.print("") }
                printer.print(lines: DocComment.lines(of: method, fallback: "Answers `\(method.fullName)`."))
                printRequirement(for: method, to: &printer)
            }
        }
        printer.print("}")
    }

    private func printRequirement(for method: MethodDescriptor, to printer: inout CodePrinter) {
        let call = HandlerCall(method, names: names)
        printer.print("func \(call.name)(")
        printer.withIndentation { printer in printer.print(lines: call.parameters.commaSeparated) }
        printer.print(call.shape.streamsResponses ? ") async throws" : ") async throws -> \(call.result)")
    }

    private func printRegistration(to printer: inout CodePrinter) {
        printer.print(
            "",
            "extension \(service.name)Handler {"
        )
        printer.withIndentation { printer in
            printer.print("/// Adds the methods of `\(service.fullName)` to a router.")
            guard !methods.isEmpty else {
                printer.print("public func register(in router: inout Router) {}")
                return
            }
            printer.print("public func register(in router: inout Router) {")
            printer.withIndentation { printer in
                for method in methods { printRoute(to: method, printer: &printer) }
            }
            printer.print("}")
        }
        printer.print("}")
    }

    private func printRoute(to method: MethodDescriptor, printer: inout CodePrinter) {
        let call = HandlerCall(method, names: names)
        printer.print("router.\(call.shape.rawValue)(")
        printer.withIndentation { printer in
            printer.print("\(service.name)Methods.\(names.descriptorName(of: method)),")
            printer.print("request: \(names.name(of: method.inputType)).self,")
            printer.print("response: \(names.name(of: method.outputType)).self")
        }
        printer.print(") { \(call.names.joined(separator: ", ")) in")
        printer.printIndented("try await self.\(call.name)(\(call.arguments))")
        printer.print("}")
    }
}
