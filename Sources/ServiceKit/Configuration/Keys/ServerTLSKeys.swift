import RPC
import RPCTransport

/// The keys of TLS on a service's own port, and of who may call what there.
public struct ServerTLSKeys: Sendable {
    /// The service's certificate.
    public let certificate: ConfigurationKey<String?>
    /// Its private key.
    public let key: ConfigurationKey<String?>
    /// The authorities of the callers' certificates; given, callers need one.
    public let clientAuthorities: ConfigurationKey<String?>
    /// The name in the certificate.
    public let name: ConfigurationKey<String>
    /// The authorities that `healthcheck` trusts on a port for everybody, whose certificate is not of the services' own.
    public let probeAuthorities: ConfigurationKey<String?>
    /// Which caller may call which method.
    public let allowList: ConfigurationKey<PeerAllowList?>

    /// The keys of a program.
    public init(program: String) {
        let prefix = ConfigurationNames.prefix + program.uppercased() + "_TLS"
        certificate = .optionalPath(
            "\(prefix)_CERTIFICATE_FILE",
            help: "PEM file of \(program)'s certificate and its intermediates; given, \(program) speaks TLS only. "
                + "It is read again at SIGHUP, and so are all other files of TLS."
        )
        key = .optionalPath("\(prefix)_KEY_FILE", help: "PEM file of the certificate's private key.")
        clientAuthorities = .optionalPath(
            "\(prefix)_CLIENT_CA_FILE",
            help: "PEM file of the authorities that callers' certificates must come from; given, callers need one."
        )
        name = .string(
            "\(prefix)_NAME",
            default: program,
            help: "The name in \(program)'s certificate that `healthcheck` looks for.",
            lengthMax: 253
        )
        probeAuthorities = .optionalPath(
            "\(prefix)_CA_FILE",
            help: "PEM file of the authorities that `healthcheck` expects \(program)'s certificate to come from; "
                + "without it those of the system."
        )
        allowList = .peerAllowList(
            "\(prefix)_ALLOW",
            help: "Which callers may call what: `NAME package.Service/Method`, with a name of the caller's certificate "
                + "(DNS or URI) or *, and a method, package.Service/* or *; rules a line each or with ; between. Given, "
                + "everything else is refused, health checks too."
        )
    }

    /// The keys of a port that everybody may call.
    public var ofEdge: [any AnyConfigurationKey] { [certificate, key, clientAuthorities, name, probeAuthorities] }

    /// The keys of a service's port.
    public var all: [any AnyConfigurationKey] { [certificate, key, clientAuthorities, name, allowList] }

    /// What a server is given; nil for clear text.
    public func settings(_ configuration: Configuration) -> TLSConfiguration? {
        guard let certificate = configuration[certificate] else { return nil }
        return TLSConfiguration(
            certificateChainFile: certificate,
            privateKeyFile: configuration[key],
            authoritiesFile: configuration[clientAuthorities]
        )
    }

    /// What is wrong with the keys and the files that they name now. Reads the files.
    public func faults(_ configuration: Configuration) -> [ConfigurationError] {
        var faults: [ConfigurationError] = []
        if configuration[certificate] == nil, configuration[clientAuthorities] != nil {
            faults.append(.needs(clientAuthorities, certificate))
        }
        if configuration[clientAuthorities] == nil, configuration[allowList] != nil {
            faults.append(.needs(allowList, clientAuthorities))
        }
        return faults + fileFaults(configuration)
    }

    /// As ``faults(_:)``, for ``ofEdge``.
    public func faultsOfEdge(_ configuration: Configuration) -> [ConfigurationError] {
        let isAlone = configuration[certificate] == nil && configuration[clientAuthorities] != nil
        return (isAlone ? [.needs(clientAuthorities, certificate)] : []) + fileFaults(configuration)
            + TLSFiles.authorityFaults(probeAuthorities, configuration)
    }

    private func fileFaults(_ configuration: Configuration) -> [ConfigurationError] {
        TLSFiles.pairFaults(certificate, key, configuration)
            + TLSFiles.authorityFaults(clientAuthorities, configuration)
    }
}
