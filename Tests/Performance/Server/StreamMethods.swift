import RPC
import SwiftProtobuf

/// Streams of messages of 64 bytes: `Send` answers a number with as many of them, `Receive` counts those that come.
enum StreamMethods {
    static func register(in router: inout Router) {
        let send = MethodDescriptor(service: BenchServer.service, method: "Send", kind: .serverStreaming)
        // Encoded it has two bytes more: a tag and a length.
        let message = Google_Protobuf_StringValue(String(repeating: "m", count: 62))
        router.serverStreaming(send) {
            (request: Google_Protobuf_Int32Value, responses: MessageWriter<Google_Protobuf_StringValue>, _) in
            for _ in 0..<request.value { try await responses.write(message) }
        }
        let receive = MethodDescriptor(service: BenchServer.service, method: "Receive", kind: .clientStreaming)
        router.clientStreaming(receive) { (requests: MessageReader<Google_Protobuf_StringValue>, _) in
            var count: Int32 = 0
            for try await _ in requests { count += 1 }
            return Google_Protobuf_Int32Value(count)
        }
    }
}
