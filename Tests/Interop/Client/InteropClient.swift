import ArgumentParser
import InteropAPI
import InteropShared
import RPC
import RPCTransport

/// Our client against any server of gRPC's interoperability tests. Exits with 0 if the case holds, and says otherwise
/// what did not.
@main
struct InteropClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpc-interop-client",
        abstract: "Runs one case of gRPC's interoperability tests against a server of grpc.testing.TestService."
    )

    @Option(help: "The server's host.")
    var host = "127.0.0.1"

    @Option(help: "The server's port.")
    var port: Int

    @Option(help: "The case: one of \(InteropCase.allCases.map(\.rawValue).joined(separator: ", ")).")
    var testCase: InteropCase

    @Flag(help: "Speak TLS. Without --authority, trust the one that rpc-interop-server --tls makes.")
    var tls = false

    @Option(help: "Event loops, each with a connection of its own.")
    var loops = 2

    @Option(help: "PEM file of the authority that the server's certificate must come from; with it TLS is spoken.")
    var authority: String?

    @Option(help: "The name that the server's certificate must be for.")
    var serverName: String?

    @Option(help: "PEM file of our certificate.")
    var certificate: String?

    @Option(help: "PEM file of our certificate's key.")
    var key: String?

    func run() async throws {
        let group = try EventLoopGroup(loopCount: loops, name: "interop")
        let channel = try RPCChannel(target: "\(host):\(port)", group: group, configuration: channelConfiguration)
        let result = await Self.outcome {
            try await testCase.body(InteropCall(client: TestServiceClient(channel), channel: channel))
        }
        await channel.close()
        await group.shutdown()
        try result.get()
    }

    private var channelConfiguration: ChannelConfiguration {
        var configuration = ChannelConfiguration()
        if tls || authority != nil {
            configuration.tls = TLSConfiguration(
                certificateChainFile: certificate,
                privateKeyFile: key,
                authoritiesFile: authority ?? InteropCertificates().authority
            )
            configuration.serverName = serverName ?? (authority == nil ? "localhost" : nil)
        }
        return configuration
    }

    /// The result of the work, so that everything can be closed before it is reported.
    private static func outcome(_ work: () async throws -> Void) async -> Result<Void, any Error> {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}
