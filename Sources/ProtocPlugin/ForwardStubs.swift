import SwiftProtobufPluginLibrary

/// `<Service>Client.addForwards(to:by:)`: the methods of a forwarded service that a gateway has no code of its own for.
struct ForwardStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    func print(to printer: inout CodePrinter) {
        let options = ServiceOptions(service)
        guard options.isForwarded else { return }
        printer.print(
            "",
            "extension \(service.name)Client {"
        )
        printer.withIndentation { printer in
            printer.print(
                "/// Adds to a gateway's router the methods of `\(service.fullName)` that it forwards as they are.",
                "public func addForwards(to router: inout Router, by forwarder: some CallForwarder) {"
            )
            printer.withIndentation { printer in
                for method in service.methods where MethodOptions(method).gatewayRole == .forwards {
                    printForward(of: method, to: &printer)
                }
            }
            printer.print("}")
        }
        printer.print("}")
    }

    private func printForward(of method: MethodDescriptor, to printer: inout CodePrinter) {
        let changes = MethodOptions(method).changes
        printer.print("router.unary(")
        printer.withIndentation { printer in
            printer.print("\(service.name)Methods.\(names.descriptorName(of: method)),")
            printer.print("request: \(names.name(of: method.inputType)).self,")
            printer.print("response: \(names.name(of: method.outputType)).self")
        }
        printer.print(") { request, context in")
        printer.withIndentation { printer in
            printer.print(
                "try await forwarder.forward(request, context, changes: \(changes)) { request, options throws(RPCError) in"
            )
            printer.printIndented("try await self.\(names.methodName(of: method))(request, options: options)")
            printer.print("}")
        }
        printer.print("}")
    }
}
