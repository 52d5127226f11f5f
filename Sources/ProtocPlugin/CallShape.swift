import SwiftProtobufPluginLibrary

/// How many messages a call carries each way.
enum CallShape: String {
    case unary
    case clientStreaming
    case serverStreaming
    case bidirectionalStreaming

    init(_ method: MethodDescriptor) {
        self =
            switch (method.clientStreaming, method.serverStreaming) {
            case (false, false): .unary
            case (true, false): .clientStreaming
            case (false, true): .serverStreaming
            case (true, true): .bidirectionalStreaming
            }
    }

    /// Whether RPC can carry such calls. A method of a shape that it can't is described in `<Service>Methods`, so that
    /// a router may name it, but it has neither a handler nor a client method, and answers UNIMPLEMENTED.
    var isCallable: Bool {
        switch self {
        case .unary: true
        case .clientStreaming, .serverStreaming, .bidirectionalStreaming: false
        }
    }
}

extension ServiceDescriptor {
    /// The methods that handlers and clients have.
    var callableMethods: [MethodDescriptor] { methods.filter { CallShape($0).isCallable } }
}
