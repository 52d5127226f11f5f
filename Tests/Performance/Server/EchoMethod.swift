import RPC
import SwiftProtobuf

/// Answers each message with itself, through an async handler.
enum EchoMethod {
    static func register(in router: inout Router) {
        let method = MethodDescriptor(service: BenchServer.service, method: "Echo")
        router.unary(method) { (request: Google_Protobuf_StringValue, _) async throws in request }
    }
}
