import ServiceKit

/// The keys that the gateway reads.
enum GatewayKeys {
    static let program = "gateway"

    static let listen = ConfigurationKey.address(
        "VESTIBULE_GATEWAY_LISTEN",
        default: "127.0.0.1:8080",
        help: "Where the gateway listens for HTTP."
    )
    static let metricsListen = SharedKeys.metricsListen(program: program)
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
        help: "The most open connections, or as many as the limit of open files leaves; more wait to be accepted."
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
        help: "How many requests to /auth/ and dialects' paths like it a client address may make each second on end."
    )
    static let authBurst = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_AUTH_BURST",
        in: 1...1_000_000,
        default: 100,
        help: "How many requests to /auth/ and dialects' paths like it a client address may make at once."
    )
    static let addressPerSecond = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_ADDRESS_PER_SECOND",
        in: 1...1_000_000,
        default: 500,
        help: "How many requests of any kind a client address may make each second on end."
    )
    static let addressBurst = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_ADDRESS_BURST",
        in: 1...1_000_000,
        default: 1000,
        help: "How many requests of any kind a client address may make at once."
    )
    static let accountPerSecond = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_ACCOUNT_PER_SECOND",
        in: 1...1_000_000,
        default: 50,
        help: "How many requests an account may make each second on end, from wherever it is signed in."
    )
    static let accountBurst = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_ACCOUNT_BURST",
        in: 1...1_000_000,
        default: 200,
        help: "How many requests an account may make at once."
    )
    static let changesPerSecond = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_CHANGES_PER_SECOND",
        in: 1...1_000_000,
        default: 5,
        help: "How many requests that change something an account may make each second on end."
    )
    static let changesBurst = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_CHANGES_BURST",
        in: 1...1_000_000,
        default: 100,
        help: "How many requests that change something an account may make at once."
    )
    static let watchesMax = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_WATCHES",
        in: 1...1_000_000,
        default: 10_000,
        help: """
            How many apps may watch their groups at once. Over HTTP/1.1 each has a connection of its own: \
            VESTIBULE_GATEWAY_CONNECTIONS_MAX has to leave room for them.
            """
    )
    static let watchesPerAccount = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_WATCHES_PER_ACCOUNT",
        in: 1...1_000,
        default: 10,
        help: "In how many places at once an account may watch its groups at this gateway."
    )
    static let trustedProxies = ConfigurationKey.networks(
        "VESTIBULE_GATEWAY_TRUSTED_PROXIES",
        help: """
            The networks of your proxies, with commas between: what they say in X-Forwarded-For is the client that \
            limits count, and nobody else's is looked at. Without it, everyone who comes through a proxy is one client. \
            RFC 7239's Forwarded is not read.
            """
    )
    /// The key that ``trustedProxies`` replaced; an operator who still sets it would lack limits that they rely on.
    static let replacedProxyCount = "VESTIBULE_GATEWAY_PROXY_COUNT"
    static let strictTransport = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_STRICT_TRANSPORT",
        in: .zero ... .seconds(2 * 366 * 86_400),
        default: .zero,
        help: """
            max-age of Strict-Transport-Security; 0s sends none. Set it where a proxy brings HTTPS to the gateway; a gateway \
            with a certificate of its own sends half a year unless this says otherwise.
            """
    )
    static let drainDelay = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_DRAIN_DELAY",
        in: .zero ... .seconds(120),
        default: .zero,
        help: """
            How long a gateway that was told to stop goes on as before, only not ready any more, so that load balancers \
            leave it before it ends: longer than they take to see that.
            """
    )
    static let dialects = ConfigurationKey<[Dialect]>.choices(
        "VESTIBULE_GATEWAY_DIALECTS",
        help: "Which dialects of other backends are answered besides our own routes; none by default."
    )
    static let supabaseServiceKey = ConfigurationKey<Secret?>.optionalSecretFile(
        "VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE",
        help: "The key for the admin routes of the dialect supabase; without one there are none.",
        bytesMax: 1024
    )

    static let introspectionClients = ConfigurationKey<Secret?>.optionalSecretFile(
        "VESTIBULE_GATEWAY_INTROSPECTION_CLIENTS_FILE",
        help: """
            Who may ask about tokens at \(IntrospectTokenRoute.path): a line for each client, its id, a colon, and the SHA-256 \
            of its secret in hexadecimal. Secrets must be random: \
            `openssl rand -hex 32 | tee secret | tr -d '\\n' | sha256sum`. Without it nobody may.
            """,
        bytesMax: 16_384
    )

    static let proxyProtocol = ConfigurationKey.networks(
        "VESTIBULE_GATEWAY_PROXY_PROTOCOL",
        help: """
            The networks of your proxies that begin each connection with a header of PROXY protocol v2, with commas between: \
            the client is who that says. Connections from there must have one, those from elsewhere must not.
            """
    )

    /// TLS of the gateway's own port.
    static let tls = ServerTLSKeys(program: program)
    /// TLS of the calls to services.
    static let channels = ChannelKeys(program: program)

    static let all: [any AnyConfigurationKey] =
        [
            listen, metricsListen, requestTimeout, bodyBytesMax, connectionsMax, idleTimeout, authPerSecond, authBurst,
            addressPerSecond, addressBurst, accountPerSecond, accountBurst, changesPerSecond, changesBurst, watchesMax,
            watchesPerAccount,
            trustedProxies, proxyProtocol, strictTransport, SharedKeys.identityAddress, SharedKeys.profileAddress,
            SharedKeys.invitesAddress, SharedKeys.avatarBytes, SharedKeys.eventLoops, drainDelay, SharedKeys.drainLimit,
            SharedKeys.reflection, Crashes.folder,
            dialects, supabaseServiceKey, introspectionClients,
        ] + browsers + tls.ofEdge + channels.all + SharedKeys.log + TraceKeys.all
}
