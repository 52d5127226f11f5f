import SwiftProtobuf
import SwiftProtobufPluginLibrary

/// `enum <Service>Methods`: what the router and the client know of each RPC.
struct MethodsStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    func print(to printer: inout CodePrinter) {
        printer.print(
            "",
            "/// Describes the methods of `\(service.fullName)`.",
            "public enum \(service.name)Methods {"
        )
        printer.withIndentation { printer in
            printer.print("/// The service's full name.")
            printer.print("public static let serviceName = \"\(service.fullName)\"")
            for method in service.methods {
                printer.print("")
                printDescriptor(of: method, to: &printer)
            }
            printer.print("")
            printer.print("/// All of them, in the order of the proto.")
            printList(to: &printer)
        }
        printer.print("}")
    }

    private func printList(to printer: inout CodePrinter) {
        guard !service.methods.isEmpty else {
            printer.print("public static let all: [MethodDescriptor] = []")
            return
        }
        printer.print("public static let all: [MethodDescriptor] = [")
        for method in service.methods { printer.printIndented("\(names.descriptorName(of: method)),") }
        printer.print("]")
    }

    private func printDescriptor(of method: MethodDescriptor, to printer: inout CodePrinter) {
        printer.print(lines: DocComment.lines(of: method, fallback: "The method `\(method.fullName)`."))
        printer.print("public static let \(names.descriptorName(of: method)) = MethodDescriptor(")
        printer.withIndentation { printer in
            printer.print("service: serviceName,")
            printer.print("method: \"\(method.name)\",")
            printer.print("kind: .\(CallShape(method).rawValue),")
            let options = MethodOptions(method)
            printer.print("isIdempotent: \(options.isIdempotent)\(options.allowsGet ? "," : "")")
            if options.allowsGet { printer.print("allowsGet: true") }
        }
        printer.print(")")
    }
}
