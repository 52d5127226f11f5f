import SwiftProtobufPluginLibrary

/// How many messages a call carries each way; the raw value is the name of the case, and of the function that registers
/// or calls such a method, in RPC.
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

    var streamsRequests: Bool { self == .clientStreaming || self == .bidirectionalStreaming }
    var streamsResponses: Bool { self == .serverStreaming || self == .bidirectionalStreaming }
}
