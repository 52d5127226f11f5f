import API
import ArgumentParser
import Foundation
import RPC
import RPCTransport
import ServiceCommands
import ServiceKit

/// The options of an operator's commands for identity's address and the operator's certificate.
struct OperatorPlace: ParsableArguments {
    @Option(help: ArgumentHelp("Identity's address. (default: VESTIBULE_IDENTITY_ADDRESS)", valueName: "host:port"))
    var identity: AddressList?
    @Option(
        help: ArgumentHelp(
            "Call it by TLS; the PEM file of its authorities. (default: VESTIBULE_SERVICES_CA_FILE)",
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
    @Option(help: ArgumentHelp("The name in its certificate, if it differs from the address.", valueName: "name"))
    var serverName: String?
    @Flag(help: "Print JSON, one object per line.")
    var json = false
    @OptionGroup var file: ConfigurationFileOption

    /// The timeout of a call.
    private static let timeout = Duration.seconds(60)

    /// Calls identity. If that fails, prints the error and ends the process with 78 for an error in the configuration, otherwise
    /// with 1.
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
                throw ValidationError("--certificate, --key and --server-name require --ca")
            }
            return channels
        }
        guard (tls.certificateChainFile == nil) == (tls.privateKeyFile == nil) else {
            throw ValidationError("--certificate and --key must be used together")
        }
        channels.tls = tls
        channels.serverName = serverName
        return channels
    }
}

/// The configuration keys that an operator's commands read.
enum OperatorKeys {
    static let channels = ChannelKeys(program: "operator")
    private static let identity = ServiceKeys(program: "identity", listenPort: 7001)

    static var all: [any AnyConfigurationKey] { [SharedKeys.identityAddress, identity.listen] + channels.all }

    /// The help text about them.
    static var help: String { ConfigurationHelp.text([SharedKeys.identityAddress] + channels.all) }

    /// Identity's configured address, else the one that it listens on.
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
