import Glibc
import RPC
import RPCTransport

/// What the benchmark calls: `bench-server echo [CERTIFICATE KEY]`, the latter over TLS; `bench-server edge [CERTIFICATE KEY]`,
/// which speaks all protocols; or `bench-server read SOCKET-FOLDER DATABASE ROWS`.
///
/// Listens on a free port of 127.0.0.1, prints it, and serves until it is killed; as edge it prints a token for `GET /small`
/// too. One event loop, so that all of it runs on one thread.
@main
enum BenchServer {
    static let service = "vestibule.bench.v1.BenchService"

    static func main() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "bench")
        var router = Router(makesOnwardCalls: false)
        let arguments = Array(CommandLine.arguments.dropFirst())
        var configuration = ServerConfiguration()
        var edge: EdgeRoute?
        if arguments.first == "echo" || arguments.first == "edge", arguments.count == 1 || arguments.count == 3 {
            EchoMethod.register(in: &router)
            StreamMethods.register(in: &router)
            if arguments.first == "edge" { edge = try EdgeRoute(router, group.loops[0]) }
            if arguments.count == 3 {
                configuration.tls = TLSConfiguration(certificateChainFile: arguments[1], privateKeyFile: arguments[2])
            }
        } else if arguments.count == 4, arguments[0] == "read", let rowCount = Int32(arguments[3]), rowCount > 0 {
            ReadMethod(socketFolder: arguments[1], database: arguments[2], rowCount: rowCount, group: group)
                .register(in: &router)
        } else {
            let usage =
                "bench-server: echo [CERTIFICATE KEY] | edge [CERTIFICATE KEY] | read SOCKET-FOLDER DATABASE ROWS\n"
            _ = write(STDERR_FILENO, usage, usage.utf8.count)
            exit(64)  // EX_USAGE of sysexits.h
        }
        let server = RPCServer(group: group, router: router, http: edge, configuration: configuration)
        print("listening on \(try await server.start())")
        if let edge { print("token \(edge.token)") }
        fflush(nil)  // it is a pipe, which stdio would keep the line from
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}
