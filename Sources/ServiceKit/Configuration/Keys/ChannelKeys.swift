import RPC
import RPCTransport

/// The keys of a program that calls services: TLS, and the certificate that it shows.
public struct ChannelKeys: Sendable {
    /// The certificate that the program shows to services.
    public let certificate: ConfigurationKey<String?>
    /// Its private key.
    public let key: ConfigurationKey<String?>

    /// The keys of a program.
    public init(program: String) {
        let prefix = ConfigurationNames.prefix + program.uppercased() + "_TLS_CLIENT"
        certificate = .optionalPath(
            "\(prefix)_CERTIFICATE_FILE",
            help: "PEM file of the certificate that \(program) shows to the services that it calls."
        )
        key = .optionalPath("\(prefix)_KEY_FILE", help: "PEM file of that certificate's private key.")
    }

    /// The keys, and the shared one.
    public var all: [any AnyConfigurationKey] { [SharedKeys.servicesAuthorities, certificate, key] }

    /// How services are called: round robin over all their addresses, with TLS if the authorities are given.
    public func settings(_ configuration: Configuration) -> ChannelConfiguration {
        var channel = ChannelConfiguration()
        channel.limits.keepaliveInterval = SharedKeys.keepaliveInterval
        channel.limits.keepaliveTimeout = SharedKeys.keepaliveTimeout
        if let authorities = configuration[SharedKeys.servicesAuthorities] {
            channel.tls = TLSConfiguration(
                certificateChainFile: configuration[certificate],
                privateKeyFile: configuration[key],
                authoritiesFile: authorities
            )
        }
        return channel
    }

    /// What is wrong with the keys and the files that they name now. Reads the files.
    public func faults(_ configuration: Configuration) -> [ConfigurationError] {
        var faults: [ConfigurationError] = []
        if configuration[SharedKeys.servicesAuthorities] == nil, configuration[certificate] != nil {
            faults.append(.needs(certificate, SharedKeys.servicesAuthorities))
        }
        return faults + TLSFiles.authorityFaults(SharedKeys.servicesAuthorities, configuration)
            + TLSFiles.pairFaults(certificate, key, configuration)
    }
}
