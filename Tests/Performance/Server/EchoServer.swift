import RPC
import RPCTransport
import SwiftProtobuf

/// Answers each message with itself, through an async handler: what the benchmark of the RPC layer calls.
@main
enum EchoServer {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 7100
        let group = try EventLoopGroup(loopCount: 1, name: "bench")
        var router = Router()
        let echo = MethodDescriptor(service: "vestibule.bench.v1.EchoService", method: "Echo")
        router.unary(echo) { (request: Google_Protobuf_StringValue, _) async throws in request }
        let server = RPCServer(group: group, router: router, configuration: .init(port: port))
        print("listening on \(try await server.start())")
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}
