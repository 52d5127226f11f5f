import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import Glibc
import NIOPosix
import SwiftProtobuf

/// The same echo as ours on grpc-swift-2 with one event-loop thread. Listens on a free port of 127.0.0.1, prints it,
/// and serves until it is killed.
@main
enum EchoPeer {
    static func main() async throws {
        var router = RPCRouter<HTTP2ServerTransport.Posix>()
        router.registerHandler(
            forMethod: MethodDescriptor(fullyQualifiedService: "vestibule.bench.v1.BenchService", method: "Echo"),
            deserializer: ProtobufDeserializer<Google_Protobuf_StringValue>(),
            serializer: ProtobufSerializer<Google_Protobuf_StringValue>()
        ) { request, _ in
            // As generated code does for a unary method.
            let request = try await ServerRequest(stream: request)
            return StreamingServerResponse(single: ServerResponse(message: request.message))
        }
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0),
            transportSecurity: .plaintext,
            eventLoopGroup: MultiThreadedEventLoopGroup(numberOfThreads: 1)
        )
        let server = GRPCServer(transport: transport, router: router)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.serve() }
            if let port = try await server.listeningAddress?.ipv4?.port { print("listening on \(port)") }
            fflush(nil)  // it is a pipe, which stdio would keep the line from
            try await group.next()
        }
    }
}
