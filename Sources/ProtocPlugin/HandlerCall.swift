import SwiftProtobufPluginLibrary

/// How a handler is called for one RPC: the parameters of the Swift method, in their order, and what it returns.
struct HandlerCall {
    let shape: CallShape
    /// The Swift method.
    let name: String
    /// The parameters by which a body calls them.
    let names: [String]
    /// Their types.
    let types: [String]
    /// The type of what is returned.
    let result: String

    init(_ method: MethodDescriptor, names swiftNames: SwiftNames) {
        let request = swiftNames.name(of: method.inputType)
        let response = swiftNames.name(of: method.outputType)
        shape = CallShape(method)
        name = swiftNames.methodName(of: method)
        var parameters =
            shape.streamsRequests
            ? [(name: "requests", type: "MessageReader<\(request)>")]
            : [(name: "request", type: request)]
        if shape.streamsResponses { parameters.append((name: "responses", type: "MessageWriter<\(response)>")) }
        parameters.append((name: "context", type: "ServerContext"))
        names = parameters.map(\.name)
        types = parameters.map(\.type)
        result = shape.streamsResponses ? "Void" : response
    }

    /// The parameters as the method declares them: the first one without a label.
    var parameters: [String] {
        zip(names, types).enumerated().map { index, parameter in
            (index == 0 ? "_ " : "") + "\(parameter.0): \(parameter.1)"
        }
    }

    /// What a caller of the method writes between its parentheses.
    var arguments: String {
        names.enumerated().map { $0.offset == 0 ? $0.element : "\($0.element): \($0.element)" }.joined(separator: ", ")
    }
}

extension [String] {
    /// The lines of a list, each but the last with a comma.
    var commaSeparated: [String] { dropLast().map { $0 + "," } + suffix(1) }
}
