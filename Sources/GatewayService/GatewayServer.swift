import HTTPJSON
import Logging
import RPC
import RPCTransport
import ServiceKit

/// The program `gateway`: HTTP/JSON for phones and browsers, gRPC to the services.
public struct GatewayServer: ProgramServer {
    /// The program's name.
    public static let programName = "gateway"
    /// Every key that it reads.
    public static let configurationKeys = GatewayKeys.all

    private let configuration: Configuration

    /// A gateway; nothing is opened yet.
    public init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until SIGTERM or SIGINT, then lets requests in flight end.
    ///
    /// The services need not be there yet: requests that need one are answered 503 until it is.
    ///
    /// - Throws: `EdgeListenError` if the address is taken; `TransportError` for a service's address that can be none.
    public func serve() async throws {
        let signals = ShutdownSignals()
        try await serve(stop: { await signals.first() })
    }

    /// Serves until `stop` returns.
    func serve(
        stop: @escaping @Sendable () async -> Void,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        let loopCount = configuration[SharedKeys.eventLoops]
        // Calls to services are light beside HTTP: one loop is enough unless configured otherwise.
        let group = try RPCTransport.EventLoopGroup(loopCount: loopCount == 0 ? 1 : loopCount, name: Self.programName)
        var channels: [RPCChannel] = []
        do {
            for key in [SharedKeys.identityAddress, SharedKeys.profileAddress, SharedKeys.invitesAddress] {
                channels.append(try RPCChannel(target: configuration[key].description, group: group))
            }
            try await serve(channels, stop: stop, onListening: onListening)
        } catch {
            await Self.close(channels, group)
            throw error
        }
        await Self.close(channels, group)
    }

    private func serve(
        _ channels: [RPCChannel],
        stop: @escaping @Sendable () async -> Void,
        onListening: @escaping @Sendable (_ port: Int) async -> Void
    ) async throws {
        let gateway = Gateway(
            backends: Backends(identity: channels[0], profile: channels[1], invites: channels[2]),
            rateLimit: GatewayKeys.rateLimit(configuration)
        )
        let logger = Logger(label: Self.programName)
        try await gateway.server(GatewayKeys.edge(configuration), logger: logger)
            .run(stop: stop, onListening: onListening)
    }

    private static func close(_ channels: [RPCChannel], _ group: RPCTransport.EventLoopGroup) async {
        for channel in channels { await channel.close() }
        await group.shutdown()
    }
}
