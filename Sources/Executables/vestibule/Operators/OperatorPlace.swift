import API
import ArgumentParser
import Foundation
import RPC
import RPCTransport
import ServiceCommands
import ServiceKit

/// The options of an operator's commands that say where identity is, and by what it knows that an operator calls.
struct OperatorPlace: ParsableArguments {
    @Option(help: ArgumentHelp("Where identity is. (default: VESTIBULE_IDENTITY_ADDRESS)", valueName: "host:port"))
    var identity: AddressList?
    @Option(
        help: ArgumentHelp(
            "Call it by TLS: PEM file of the authorities of its certificate. (default: VESTIBULE_SERVICES_CA_FILE)",
            valueName: "file"
        )
    )
    var ca: String?
    @Option(
        help: ArgumentHelp(
            "The operator's certificate. (default: VESTIBULE_OPERATOR_TLS_CLIENT_CERTIFICATE_FILE)",
            valueName: "file"
        )
    )
    var certificate: String?
    @Option(
        help: ArgumentHelp("Its private key. (default: VESTIBULE_OPERATOR_TLS_CLIENT_KEY_FILE)", valueName: "file")
    )
    var key: String?
    @Option(help: ArgumentHelp("The name in identity's certificate, if it is not the address's.", valueName: "name"))
    var serverName: String?
    @Flag(help: "Print JSON, an object a line.")
    var json = false
    @OptionGroup var file: ConfigurationFileOption

    /// How long a call may take.
    private static let timeout = Duration.seconds(60)

    /// Calls identity. Ends the process where that fails: with a line that says why, and 78 for a fault of the configuration,
    /// else 1.
    func call<Answer: Sendable>(
        _ command: String,
        _ body: @Sendable (OperatorServiceClient, CallOptions) async throws -> Answer
    ) async -> Answer {
        do {
            let configuration = try OperatorKeys.configuration(path: file.path)
            let (address, channels) = (
                identity ?? OperatorKeys.address(configuration), try channelConfiguration(configuration)
            )
            return try await withEventLoopGroup(loopCount: 1, name: "operator") { group in
                try await withRPCChannel(
                    target: address.description,
                    group: group,
                    configuration: channels
                ) { channel in
                    try await body(OperatorServiceClient(channel), CallOptions(timeout: Self.timeout))
                }
            }
        } catch let error as RPCError {
            let reason = error.reason ?? error.code.description
            Program.end("vestibule account \(command): \(reason): \(error.message.printable)", code: 1)
        } catch {
            Program.end(error, program: "vestibule account \(command)")
        }
    }

    private func channelConfiguration(_ configuration: Configuration) throws -> ChannelConfiguration {
        var channels = OperatorKeys.channels.settings(configuration)
        var tls = channels.tls ?? TLSConfiguration()
        if let ca { tls.authoritiesFile = ca }
        if let certificate { tls.certificateChainFile = certificate }
        if let key { tls.privateKeyFile = key }
        guard tls.authoritiesFile != nil else {
            guard certificate == nil, key == nil, serverName == nil else {
                throw ValidationError("--certificate, --key and --server-name need --ca too")
            }
            return channels
        }
        guard (tls.certificateChainFile == nil) == (tls.privateKeyFile == nil) else {
            throw ValidationError("--certificate and --key belong together")
        }
        channels.tls = tls
        channels.serverName = serverName
        return channels
    }
}

/// What an operator's commands read of the configuration.
enum OperatorKeys {
    static let channels = ChannelKeys(program: "operator")
    private static let identity = ServiceKeys(program: "identity", listenPort: 7001)

    static var all: [any AnyConfigurationKey] { [SharedKeys.identityAddress, identity.listen] + channels.all }

    /// What `--help` says of it.
    static var help: String { ConfigurationHelp.text([SharedKeys.identityAddress] + channels.all) }

    /// Where identity is said to be, else where it listens.
    static func address(_ configuration: Configuration) -> AddressList {
        let listens = AddressList("\(configuration[identity.listen].reachable)")
        return configuration.isGiven(SharedKeys.identityAddress.name)
            ? configuration[SharedKeys.identityAddress] : listens ?? configuration[SharedKeys.identityAddress]
    }

    static func configuration(path: String?) throws(ConfigurationErrors) -> Configuration {
        let configuration = try Configuration.load(
            keys: all,
            program: "operator",
            path: path,
            environment: ProcessInfo.processInfo.environment
        )
        let faults = channels.faults(configuration)
        guard faults.isEmpty else { throw ConfigurationErrors(faults) }
        return configuration
    }
}
