import SwiftProtobufPluginLibrary

/// One method of a client: its signature, and the call of the channel that it stands for. What streams goes through a
/// closure, which is the life of the call.
struct ClientCallStub {
    let shape: CallShape
    /// The Swift method.
    let name: String
    /// The Swift expression of the method's descriptor.
    let descriptor: String
    /// The Swift types of the messages.
    let request: String
    let response: String

    func print(to printer: inout CodePrinter) {
        printer.print("public func \(name)\(shape.streamsResponses ? "<Result: Sendable>" : "")(")
        printer.withIndentation { printer in printer.print(lines: parameters) }
        printer.print(") async \(effect) -> \(shape.streamsResponses ? "Result" : response) {")
        printer.withIndentation { printer in
            printer.print("try await channel.\(function)(")
            printer.withIndentation { printer in printer.print(lines: arguments) }
            printer.print(")")
        }
        printer.print("}")
    }

    private var effect: String { shape == .unary ? "throws(RPCError)" : "throws" }

    /// The function of `ClientChannel`.
    private var function: String { shape == .bidirectionalStreaming ? "stream" : shape.rawValue }

    private var parameters: [String] {
        let options = "options: CallOptions = CallOptions()"
        return switch shape {
        case .unary: ["_ request: \(request),", options]
        case .serverStreaming:
            ["_ request: \(request),", options + ",", body("MessageReader<\(response)>", to: "Result")]
        case .clientStreaming: [options + ",", body("RequestWriter<\(request)>", to: "Void")]
        case .bidirectionalStreaming:
            [options + ",", body("RequestWriter<\(request)>, MessageReader<\(response)>", to: "Result")]
        }
    }

    private func body(_ taken: String, to result: String) -> String {
        "_ body: @Sendable (\(taken)) async throws -> \(result)"
    }

    private var arguments: [String] {
        let request = shape.streamsRequests ? "request: \(request).self," : "request,"
        let plain = ["\(descriptor),", request, "response: \(response).self,"]
        return plain + (shape == .unary ? ["options: options"] : ["options: options,", "body"])
    }
}
