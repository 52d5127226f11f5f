import SwiftProtobufPluginLibrary

/// `<Service>Client.addForwards(to:)`: the methods of a forwarded service that a gateway has no code of its own for.
struct ForwardStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    func print(to printer: inout CodePrinter) {
        guard ServiceOptions(service).isForwarded else { return }
        printer.print(
            "",
            "extension \(service.name)Client {"
        )
        printer.withIndentation { printer in
            printer.print(
                "/// Adds to a gateway the methods of `\(service.fullName)` that it forwards as they are.",
                "public func addForwards(to forwarder: inout some CallForwarder) {"
            )
            printer.withIndentation { printer in
                for method in service.methods where MethodOptions(method).gatewayRole == .forwards {
                    let descriptor = "\(service.name)Methods.\(names.descriptorName(of: method))"
                    printer.print("forwarder.add(\(descriptor), \(names.methodName(of: method)))")
                }
            }
            printer.print("}")
        }
        printer.print("}")
    }
}
