import Allocations
import Glibc
import RPC
import RPCTransport
import SwiftProtobuf

/// `allocation-count SERVER-MAX CLIENT-MAX`: how often a unary echo allocates, on the server's loop and on the client's,
/// each a thread of its own. Prints both, and fails where one is not what was committed: more is a loss, and less wants a
/// lower number, so that the next loss is seen.
@main
enum AllocationCount {
    private typealias Text = Google_Protobuf_StringValue
    private static let method = MethodDescriptor(service: "vestibule.bench.v1.BenchService", method: "Echo")
    /// Before, so that what is kept for reuse is there.
    private static let warmUpCalls = 2_000
    private static let calls = 10_000

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Double($0) }
        guard arguments.count == 2 else {
            let usage = "allocation-count: SERVER-MAX CLIENT-MAX, allocations a call\n"
            _ = write(STDERR_FILENO, usage, usage.utf8.count)
            exit(64)  // EX_USAGE of sysexits.h
        }
        let serverGroup = try EventLoopGroup(loopCount: 1, name: "server")
        let clientGroup = try EventLoopGroup(loopCount: 1, name: "client")
        var router = Router()
        router.unary(method) { (request: Text, _) async throws in request }
        let server = RPCServer(group: serverGroup, router: router, configuration: ServerConfiguration())
        let channel = try RPCChannel(target: "127.0.0.1:\(try await server.start())", group: clientGroup)

        try await call(channel, warmUpCalls, on: clientGroup.loops[0])
        let serverBefore = try await serverGroup.loops[0].run { allocation_count() }
        let clientBefore = try await clientGroup.loops[0].run { allocation_count() }
        try await call(channel, calls, on: clientGroup.loops[0])
        let clientAfter = try await clientGroup.loops[0].run { allocation_count() }
        let serverAfter = try await serverGroup.loops[0].run { allocation_count() }

        let isServerRight = judge("server", serverAfter - serverBefore, arguments[0])
        let isClientRight = judge("client", clientAfter - clientBefore, arguments[1])
        await channel.close()
        await server.shutdown()
        await serverGroup.shutdown()
        await clientGroup.shutdown()
        exit(isServerRight && isClientRight ? 0 : 1)
    }

    /// Calls one after the other, on the client's loop.
    private static func call(_ channel: RPCChannel, _ count: Int, on loop: EventLoop) async throws {
        let task = Task(executorPreference: loop) {
            let request = Text("a message of sixty-three bytes, as protobuf writes it to the wir")
            for _ in 0..<count {
                _ = try await channel.unary(method, request, response: Text.self, options: CallOptions())
            }
        }
        try await task.value
    }

    private static func judge(_ side: String, _ allocations: UInt64, _ committed: Double) -> Bool {
        let found = Double(allocations) / Double(calls)
        // A buffer that grows now and then is no drift.
        let isRight = abs(found - committed) < 0.5
        print("\(side): \(found) allocations a unary call, committed: \(committed)\(isRight ? "" : "  NOT SO")")
        return isRight
    }
}
