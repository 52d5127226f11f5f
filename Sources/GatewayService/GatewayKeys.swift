import HTTPJSON
import ServiceKit

/// The gateway's own configuration.
enum GatewayKeys {
    static let listen = ConfigurationKey.address(
        "VESTIBULE_GATEWAY_LISTEN",
        default: "127.0.0.1:8080",
        help: "Where the gateway listens for HTTP."
    )
    static let metricsListen = SharedKeys.metricsListen(program: GatewayServer.programName)
    static let requestTimeout = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_REQUEST_TIMEOUT",
        in: .milliseconds(100) ... .seconds(60),
        default: .seconds(5),
        help: "How long a request may take; calls to services are given what is left of it."
    )
    static let bodyBytesMax = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_BODY_BYTES_MAX",
        in: 4096...1_048_576,
        default: 65_536,
        help: "The largest request body."
    )
    static let connectionsMax = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_CONNECTIONS_MAX",
        in: 1...1_000_000,
        default: 4096,
        help: "The most open connections; more wait to be accepted."
    )
    static let idleTimeout = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_IDLE_TIMEOUT",
        in: .seconds(1) ... .seconds(3600),
        default: .seconds(60),
        help: "How long a connection may be idle, or take to send a request's head."
    )
    static let authPerSecond = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_AUTH_PER_SECOND",
        in: 1...1_000_000,
        default: 50,
        help: "How many requests to /auth/ a client address may make each second on end."
    )
    static let authBurst = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_AUTH_BURST",
        in: 1...1_000_000,
        default: 100,
        help: "How many requests to /auth/ a client address may make at once."
    )
    static let proxyCount = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_PROXY_COUNT",
        in: 0...8,
        default: 0,
        help: "How many proxies of yours append to X-Forwarded-For; 0 takes the address of the connection."
    )
    static let strictTransport = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_STRICT_TRANSPORT",
        in: .zero ... .seconds(2 * 366 * 86_400),
        default: .zero,
        help: "max-age of Strict-Transport-Security; 0s sends none. Set it where the gateway is reached by HTTPS."
    )

    /// TLS of the calls to services.
    static let channels = ChannelKeys(program: GatewayServer.programName)

    /// All that the gateway reads.
    static let all: [any AnyConfigurationKey] =
        [
            listen, metricsListen, requestTimeout, bodyBytesMax, connectionsMax, idleTimeout, authPerSecond, authBurst,
            proxyCount,
            strictTransport, SharedKeys.identityAddress, SharedKeys.profileAddress, SharedKeys.invitesAddress,
            SharedKeys.eventLoops, SharedKeys.drainLimit,
        ] + channels.all + SharedKeys.log

    /// The HTTP server's part.
    static func edge(_ configuration: Configuration) -> EdgeServer.Configuration {
        let address = configuration[listen]
        let limits = EdgeLimits(
            requestTimeout: configuration[requestTimeout],
            bodyBytesMax: configuration[bodyBytesMax],
            connectionsMax: configuration[connectionsMax],
            idleTimeout: configuration[idleTimeout]
        )
        return EdgeServer.Configuration(
            host: address.host,
            port: address.port,
            limits: limits,
            strictTransportSeconds: configuration[strictTransport].components.seconds,
            drainLimit: configuration[SharedKeys.drainLimit]
        )
    }

    /// The rate limit's part.
    static func rateLimit(_ configuration: Configuration) -> RateLimit.Policy {
        RateLimit.Policy(
            perSecond: Double(configuration[authPerSecond]),
            burst: Double(configuration[authBurst]),
            proxyCount: configuration[proxyCount]
        )
    }
}
