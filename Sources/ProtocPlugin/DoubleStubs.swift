import SwiftProtobufPluginLibrary

/// `class <Service>Double`: a service whose answers a test decides. It has every method of the proto, so that a new RPC
/// breaks no test.
struct DoubleStubs {
    let service: ServiceDescriptor
    let names: SwiftNames

    private var methods: [MethodDescriptor] { ServiceOptions(service).implementedMethods }

    func print(to printer: inout CodePrinter) {
        printer.print(
            "",
            "/// Plays `\(service.fullName)` in tests, by answers that may change at any time. A method that was given no",
            "/// answer fails with UNIMPLEMENTED and its path. Any thread.",
            "public final class \(service.name)Double: \(service.name)Handler {"
        )
        printer.withIndentation { printer in
            guard !methods.isEmpty else {
                printer.print("/// A double.", "public init() {}")
                return
            }
            printAnswers(to: &printer)
            printState(to: &printer)
            for method in methods { printMethod(method, to: &printer) }
        }
        printer.print("}")
    }

    private func printAnswers(to printer: inout CodePrinter) {
        printer.print("/// What each method does with a call.", "public struct Answers: Sendable {")
        printer.withIndentation { printer in
            for method in methods {
                let call = HandlerCall(method, names: names)
                printer.print(lines: DocComment.lines(of: method, fallback: "Answers `\(method.fullName)`."))
                printer.print("public var \(call.name): @Sendable (")
                printer.withIndentation { printer in printer.print(lines: call.types.commaSeparated) }
                printer.print(
                    ") async throws -> \(call.result) = { \(call.types.map { _ in "_" }.joined(separator: ", ")) in"
                )
                let path = "\\(\(service.name)Methods.\(names.descriptorName(of: method)).path)"
                printer.printIndented("throw RPCError(.unimplemented, \"\(path) has no answer in this test\")")
                printer.print("}", "")
            }
            printer.print("/// No answers.", "public init() {}")
        }
        printer.print("}")
    }

    private func printState(to printer: inout CodePrinter) {
        printer.print(
            "",
            "private let answers: Mutex<Answers>",
            "",
            "/// A double with these answers.",
            "public init(_ answers: Answers = Answers()) {"
        )
        printer.printIndented("self.answers = Mutex(answers)")
        printer.print(
            "}",
            "",
            "/// Changes the answers of calls that begin after this.",
            "public func set(_ change: (inout Answers) -> Void) {"
        )
        printer.printIndented("answers.withLock { change(&$0) }")
        printer.print("}")
    }

    private func printMethod(_ method: MethodDescriptor, to printer: inout CodePrinter) {
        let call = HandlerCall(method, names: names)
        printer.print("", "public func \(call.name)(")
        printer.withIndentation { printer in printer.print(lines: call.parameters.commaSeparated) }
        printer.print(call.shape.streamsResponses ? ") async throws {" : ") async throws -> \(call.result) {")
        printer.printIndented("try await answers.withLock(\\.\(call.name))(\(call.names.joined(separator: ", ")))")
        printer.print("}")
    }
}
