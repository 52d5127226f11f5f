import API
import RPC
import RPCTransport

/// Asks a gRPC server whether it is serving: the subcommand `healthcheck`, and programs that wait for a service.
public enum HealthProbe {
    /// Whether the server at an address answers that it is serving, within the time.
    ///
    /// - Parameter configuration: with TLS where the server speaks that.
    public static func check(
        address: HostPort,
        timeout: Duration,
        configuration: ChannelConfiguration = .init()
    ) async -> Bool {
        let status = try? await withEventLoopGroup(loopCount: 1, name: "probe") { group in
            let channel = try RPCChannel(target: address.description, group: group, configuration: configuration)
            return try await HealthClient(channel).check(.init(), options: CallOptions(timeout: timeout)).status
        }
        return status == .serving
    }

    /// How a program's own server is asked: with TLS if it has a certificate. The certificate must be for the name that
    /// the configuration tells, since the address is this machine's; where callers need one, the probe shows the
    /// program's certificate for its calls to others, or else the server's own.
    ///
    /// - Parameter isEdge: whether the port is for everybody, so that its certificate is not of the services' own authorities.
    static func configuration(
        program: String,
        path: String?,
        environment: [String: String],
        isEdge: Bool = false
    ) throws(ConfigurationErrors) -> ChannelConfiguration {
        let (server, channels) = (ServerTLSKeys(program: program), ChannelKeys(program: program))
        let keys: [any AnyConfigurationKey] =
            [server.certificate, server.key, server.clientAuthorities, server.name] + channels.all
            + (isEdge ? [server.probeAuthorities] : [])
        let configuration = try Configuration.load(only: keys, path: path, environment: environment)
        var probe = ChannelConfiguration()
        guard let own = server.settings(configuration) else { return probe }
        let other = channels.settings(configuration).tls
        let shown = other?.certificateChainFile == nil ? own : other
        let needsCertificate = own.authoritiesFile != nil
        probe.tls = TLSConfiguration(
            certificateChainFile: needsCertificate ? shown?.certificateChainFile : nil,
            privateKeyFile: needsCertificate ? shown?.privateKeyFile : nil,
            authoritiesFile: isEdge ? configuration[server.probeAuthorities] : other?.authoritiesFile
        )
        probe.serverName = configuration[server.name]
        return probe
    }
}
