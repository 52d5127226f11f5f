import API
import ArgumentParser
import Connect
import InteropAPI
import InteropShared
import RPC
import RPCTransport
import ServiceKit

/// A server of gRPC's interoperability tests, for foreign clients to call by gRPC, Connect and gRPC-Web on one port. Prints the address that it listens on, and
/// stops gracefully at SIGTERM.
@main
struct InteropServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc-interop-server",
        abstract: "Serves grpc.testing.TestService, health and reflection on a loopback port."
    )

    @Option(help: "The port; 0 lets the system choose.")
    var port = 0

    @Option(help: "Event loops.")
    var loops = 2

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @Flag(help: "Speak TLS only. Without --certificate, with one that is made at the start (openssl).")
    var tls = false

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
        guard clientAuthority == nil || certificate != nil || tls else {
            throw ValidationError("--client-authority needs --tls or --certificate")
        }
    }

    func run() async throws {
        let signals = ShutdownSignals()
        var router = Router()
        router.add(TestService())
        let health = HealthService(services: router.services)
        router.add(health)
        router.add(
            try ReflectionService(
                services: router.services,
                descriptorSets: [InteropDescriptors.fileDescriptorSet]
            )
        )
        let configuration = try serverConfiguration()
        let connect = ConnectHandler(
            router,
            limits: configuration.limits,
            detailTypes: [GoogleRpc.ErrorInfo.self, GoogleRpc.BadRequest.self, GoogleRpc.RetryInfo.self]
        )
        try await withEventLoopGroup(loopCount: loops, name: "interop") { group in
            try await withRPCServer(group: group, router: router, http: connect, configuration: configuration) {
                _,
                port in
                health.setReady(true)
                print("listening on 127.0.0.1:\(port)")
                flushStandardOutput()
                await signals.first()
                health.beginDrain()
            }
        }
    }

    private func serverConfiguration() throws -> ServerConfiguration {
        var configuration = ServerConfiguration(port: port)
        limits.apply(to: &configuration)
        if let certificate, let key {
            configuration.tls = TLSConfiguration(
                certificateChainFile: certificate,
                privateKeyFile: key,
                authoritiesFile: clientAuthority
            )
        } else if tls {
            let made = InteropCertificates()
            try made.make()
            configuration.tls = TLSConfiguration(
                certificateChainFile: made.certificate,
                privateKeyFile: made.key,
                authoritiesFile: clientAuthority
            )
        }
        return configuration
    }
}
