import ArgumentParser
import FoundationEssentials
import Load
import LocalStack
import RPCTransport
import ServiceCommands
import ServiceKit

/// The options of `load` about the target.
struct LoadPlace: ParsableArguments {
    @Flag(help: "Call the gateway's JSON API over HTTP instead of the services by gRPC.")
    var edge = false
    @Option(help: ArgumentHelp("The gateway. (default: the local stack's)", valueName: "url"))
    var gateway: String?
    @Option(help: ArgumentHelp("The identity service: addresses separated by commas.", valueName: "host:port"))
    var identity: AddressList?
    @Option(help: ArgumentHelp("The profile service, likewise.", valueName: "host:port"))
    var profile: AddressList?
    @Option(help: ArgumentHelp("The provider simulator. (default: the local stack's)", valueName: "url"))
    var simulator: String?
    @Option(name: .customLong("client-id"), help: ArgumentHelp("Our client id at Google.", valueName: "id"))
    var clientID = "example.apps.googleusercontent.com"
    @Option(help: ArgumentHelp("Allow another host than this machine; can be repeated.", valueName: "host"))
    var allow: [String] = []
    @Option(
        help: ArgumentHelp(
            "Call the services by TLS; the PEM file of their authorities. (default: VESTIBULE_SERVICES_CA_FILE)",
            valueName: "file"
        )
    )
    var ca: String?
    @Option(
        help: ArgumentHelp(
            "The client certificate. (default: VESTIBULE_LOAD_TLS_CLIENT_CERTIFICATE_FILE)",
            valueName: "file"
        )
    )
    var certificate: String?
    @Option(
        help: ArgumentHelp("Its private key. (default: VESTIBULE_LOAD_TLS_CLIENT_KEY_FILE)", valueName: "file")
    )
    var key: String?
    @Option(help: ArgumentHelp("The name in their certificates, if it differs from the address.", valueName: "name"))
    var serverName: String?

    func simulatorURL(_ configuration: Configuration) -> String {
        Self.withoutSlash(simulator) ?? "http://\(configuration[StackKeys.simulator].reachable)"
    }

    /// The target. Throws an error about invalid options.
    func target(_ configuration: Configuration) throws -> LoadPlan.Target {
        if edge || gateway != nil {
            return .edge(url: Self.withoutSlash(gateway) ?? "http://\(configuration[StackKeys.gateway].reachable)")
        }
        return .grpc(
            identity: identity ?? LoadKeys.address(of: LoadKeys.identity, configuration),
            profile: profile ?? LoadKeys.address(of: LoadKeys.profile, configuration),
            tls: try tls(configuration),
            serverName: serverName
        )
    }

    private func tls(_ configuration: Configuration) throws -> TLSConfiguration? {
        var tls = LoadKeys.channels.settings(configuration).tls ?? TLSConfiguration()
        if let ca { tls.authoritiesFile = ca }
        if let certificate { tls.certificateChainFile = certificate }
        if let key { tls.privateKeyFile = key }
        guard tls.authoritiesFile != nil else {
            guard certificate == nil, key == nil, serverName == nil else {
                throw ValidationError("--certificate, --key and --server-name require --ca")
            }
            return nil
        }
        guard (tls.certificateChainFile == nil) == (tls.privateKeyFile == nil) else {
            throw ValidationError("--certificate and --key must be used together")
        }
        return tls
    }

    private static func withoutSlash(_ url: String?) -> String? {
        url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }
}

extension AddressList: ExpressibleByArgument {
    /// Parses the addresses of an argument.
    public init?(argument: String) { self.init(argument) }
}

/// The configuration keys that `load` reads.
enum LoadKeys {
    static let channels = ChannelKeys(program: "load")
    static let identity = (
        address: SharedKeys.identityAddress, service: ServiceKeys(program: "identity", listenPort: 7001)
    )
    static let profile = (
        address: SharedKeys.profileAddress, service: ServiceKeys(program: "profile", listenPort: 7002)
    )

    static var all: [any AnyConfigurationKey] {
        StackKeys.all + [identity.address, profile.address] + channels.all
    }

    /// The address of a service: the configured one, else the address that it listens on.
    static func address(
        of keys: (address: ConfigurationKey<AddressList>, service: ServiceKeys),
        _ configuration: Configuration
    ) -> AddressList {
        let listens = AddressList("\(configuration[keys.service.listen].reachable)")
        return configuration.isGiven(keys.address.name)
            ? configuration[keys.address] : listens ?? configuration[keys.address]
    }
}

extension ConfigurationFileOption {
    /// The configuration of `load`; ends the process if it has errors.
    func loadConfiguration() -> Configuration {
        do {
            let configuration = try Configuration.load(
                keys: LoadKeys.all,
                program: "load",
                path: path,
                environment: ProcessInfo.processInfo.environment
            )
            let faults = LoadKeys.channels.faults(configuration)
            guard faults.isEmpty else { throw ConfigurationErrors(faults) }
            return configuration
        } catch {
            Program.end(error, program: "vestibule load")
        }
    }
}
