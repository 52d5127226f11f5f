import ArgumentParser
import RPC
import RPCTransport
import ServiceKit

/// A server of gRPC's interoperability tests, for foreign clients to call. Prints the address that it listens on, and
/// stops gracefully at SIGTERM.
@main
struct InteropServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc-interop-server",
        abstract: "Serves grpc.testing.TestService on a loopback port."
    )

    @Option(help: "The port; 0 lets the system choose.")
    var port = 0

    @Option(help: "Event loops.")
    var loops = 2

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @Option(help: "PEM file of the server's certificate; with it the server speaks TLS only.")
    var certificate: String?

    @Option(help: "PEM file of the certificate's key.")
    var key: String?

    @Option(help: "PEM file of the authority that clients' certificates must come from.")
    var clientAuthority: String?

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--certificate and --key go together")
        }
        guard clientAuthority == nil || certificate != nil else {
            throw ValidationError("--client-authority needs --certificate")
        }
    }

    func run() async throws {
        let signals = ShutdownSignals()
        let group = try EventLoopGroup(loopCount: loops, name: "interop")
        let server = RPCServer(group: group, router: router, configuration: serverConfiguration)
        let port = try await server.start()
        print("listening on 127.0.0.1:\(port)")
        flushStandardOutput()
        await signals.first()
        await server.drain()
        await server.shutdown()
        await group.shutdown()
    }

    private var router: Router {
        var router = Router()
        router.add(TestService())
        let health = HealthService(services: router.services)
        health.setReady(true)
        router.add(health)
        return router
    }

    private var serverConfiguration: ServerConfiguration {
        var configuration = ServerConfiguration(port: port)
        limits.apply(to: &configuration)
        if let certificate, let key {
            configuration.tls = TLSConfiguration(
                certificateChainFile: certificate,
                privateKeyFile: key,
                authoritiesFile: clientAuthority
            )
        }
        return configuration
    }
}
