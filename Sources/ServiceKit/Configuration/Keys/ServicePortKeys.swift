import API
import Connect
import HTTP
import RPC

/// The keys of what a service's port answers besides gRPC to its callers' names of it: by default nothing. The port is for
/// services; apps have the gateway.
public struct ServicePortKeys: Sendable {
    /// The names by which callers reach the service.
    public let serverNames: ConfigurationKey<[String]?>
    /// Whether it answers Connect and gRPC-Web.
    public let connect: ConfigurationKey<Bool>
    /// The web pages that may call it.
    public let origins: ConfigurationKey<[String]?>

    /// In the place of a name: any.
    static let anyName = "*"

    /// The keys of a program.
    public init(program: String) {
        let prefix = ConfigurationNames.prefix + program.uppercased()
        serverNames = .optionalList(
            "\(prefix)_SERVER_NAMES",
            help:
                "The host names by which callers reach \(program), such as \(program).example.internal, or * for any. IP "
                + "addresses and names without a dot are always accepted. A call by another name is rejected with 421, "
                + "so that no web page reaches \(program) by DNS rebinding. Without it: any name if callers must show "
                + "certificates, else none."
        )
        connect = .bool(
            "\(prefix)_CONNECT",
            default: false,
            help: "Whether \(program) answers Connect and gRPC-Web besides gRPC, for tools of developers."
        )
        origins = .optionalList(
            "\(prefix)_ORIGINS",
            help:
                "The origins of web pages that may call \(program) by Connect and gRPC-Web (CORS), each exactly as "
                + "browsers write it, such as http://localhost:3000; needs \(prefix)_CONNECT. Without it no page may."
        )
    }

    /// The keys.
    public var all: [any AnyConfigurationKey] { [serverNames, connect, origins] }

    /// The names that the server answers to; nil for any.
    ///
    /// - Parameter asksForCertificates: whether callers must show certificates.
    public func names(_ configuration: Configuration, asksForCertificates: Bool) -> [String]? {
        guard let names = configuration[serverNames] else { return asksForCertificates ? nil : [] }
        return names.contains(Self.anyName) ? nil : names
    }

    /// What is wrong with the keys.
    public func faults(_ configuration: Configuration) -> [ConfigurationError] {
        guard let listed = configuration[origins] else { return [] }
        var faults: [ConfigurationError] = []
        if !configuration[connect] {
            faults.append(ConfigurationError(key: origins.name, problem: "needs \(connect.name)=true"))
        }
        if let wrong = listed.first(where: { !Self.isOrigin($0) }) {
            faults.append(
                ConfigurationError(
                    key: origins.name,
                    problem:
                        "has \(quoted(wrong)), which is no origin as browsers write it, such as http://localhost:3000: no path, and * is none"
                )
            )
        }
        return faults
    }

    /// What answers what is no gRPC; nil where nothing does.
    package func handler(_ configuration: Configuration, _ router: Router) -> (any HTTPHandler)? {
        guard configuration[connect] else { return nil }
        let calls = ConnectHandler(router, detailTypes: RPCError.detailTypes)
        return ServicePortHandler(calls: calls, origins: Set(configuration[origins] ?? []))
    }

    /// Whether a text can be an origin (RFC 6454 section 6.2): scheme and authority, in lower case.
    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return false }
        return parts[1].utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
    }
}
