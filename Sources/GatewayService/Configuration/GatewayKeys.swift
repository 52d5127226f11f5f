import ServiceKit

/// The keys that the gateway reads.
enum GatewayKeys {
    static let program = "gateway"

    static let listen = ConfigurationKey.address(
        "VESTIBULE_GATEWAY_LISTEN",
        default: "127.0.0.1:8080",
        help: "The address that the gateway listens on for HTTP."
    )
    static let metricsListen = SharedKeys.metricsListen(program: program)
    static let requestTimeout = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_REQUEST_TIMEOUT",
        in: .milliseconds(100) ... .seconds(60),
        default: .seconds(5),
        help: "How long a request may take. Calls to services get the time that is left."
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
        help: "Maximum open connections, or as many as the limit of open files allows; further ones wait to "
            + "be accepted."
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
        help: "How many requests to /auth/, /oauth2/, /sign-in/ and dialects' paths like them a client address may "
            + "make each second on end."
    )
    static let authBurst = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_AUTH_BURST",
        in: 1...1_000_000,
        default: 100,
        help: "How many requests to /auth/, /oauth2/, /sign-in/ and dialects' paths like them a client address may "
            + "make at once."
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
    static let check = ConfigurationKey<SessionCheck>.choice(
        "VESTIBULE_GATEWAY_CHECK",
        default: .stream,
        help: """
            How access tokens are judged. stream: by identity once a minute, and meanwhile by its answer, as long as \
            identity's stream of ended sessions is heard in time. row: by identity with each request.
            """
    )
    static let proofNonce = ConfigurationKey.bool(
        "VESTIBULE_GATEWAY_DPOP_NONCE",
        default: true,
        help: """
            Whether a proof of possession (DPoP) needs a nonce of this gateway, so that it is good nowhere else and not after a restart. \
            Without it a proof goes by its own time: for clients that know no nonces, and where there is one gateway.
            """
    )
    static let outageGrace = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_OUTAGE_GRACE",
        in: .zero ... .seconds(60),
        default: .zero,
        help: """
            How long access tokens that identity judged a moment ago may still read, and nothing else, while identity does not \
            respond; 0s for not at all. A session that ends elsewhere meanwhile goes on reading.
            """
    )
    static let watchesMax = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_WATCHES",
        in: 1...1_000_000,
        default: 10_000,
        help: """
            Maximum concurrent subscriptions to group events. Over HTTP/1.1 each has a connection of its own: \
            VESTIBULE_GATEWAY_CONNECTIONS_MAX must leave room for them.
            """
    )
    static let watchesPerAccount = ConfigurationKey.int(
        "VESTIBULE_GATEWAY_WATCHES_PER_ACCOUNT",
        in: 1...1_000,
        default: 10,
        help: "Maximum concurrent subscriptions of one account at this gateway."
    )
    static let trustedProxies = ConfigurationKey.networks(
        "VESTIBULE_GATEWAY_TRUSTED_PROXIES",
        help: """
            The networks of your proxies, separated by commas. Limits count the client that these proxies name \
            in X-Forwarded-For; the header of any other sender is ignored. Without it, all clients behind a \
            proxy count as one. RFC 7239's Forwarded is not read.
            """
    )
    /// The key that ``trustedProxies`` replaced; an operator who still sets it would lack limits that they rely on.
    static let replacedProxyCount = "VESTIBULE_GATEWAY_PROXY_COUNT"
    static let strictTransport = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_STRICT_TRANSPORT",
        in: .zero ... .seconds(2 * 366 * 86_400),
        default: .zero,
        help: """
            max-age of Strict-Transport-Security; 0s sends no header. Set it if a proxy terminates HTTPS before \
            the gateway. A gateway with a certificate of its own sends half a year by default.
            """
    )
    static let drainDelay = ConfigurationKey.duration(
        "VESTIBULE_GATEWAY_DRAIN_DELAY",
        in: .zero ... .seconds(120),
        default: .zero,
        help: """
            How long a stopping gateway still serves while it reports not ready, so that load balancers remove \
            it first. Make it longer than they take to notice.
            """
    )
    static let dialects = ConfigurationKey<[Dialect]>.choices(
        "VESTIBULE_GATEWAY_DIALECTS",
        help: "The dialects of other backends to serve besides the own routes; none by default."
    )
    static let supabaseServiceKey = ConfigurationKey<Secret?>.optionalSecretFile(
        "VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE",
        help: "The key of the supabase dialect's admin routes; without it these routes don't exist.",
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
            The networks of your proxies that begin each connection with a PROXY protocol v2 header, separated \
            by commas. The header names the client. Connections from these networks must have one; others must \
            not.
            """
    )

    /// TLS of the gateway's own port.
    static let tls = ServerTLSKeys(program: program)
    /// TLS of the calls to services.
    static let channels = ChannelKeys(program: program)

    static let all: [any AnyConfigurationKey] =
        [
            listen, metricsListen, requestTimeout, check, proofNonce, outageGrace, bodyBytesMax, connectionsMax,
            idleTimeout,
            authPerSecond,
            authBurst,
            addressPerSecond, addressBurst, accountPerSecond, accountBurst, changesPerSecond, changesBurst, watchesMax,
            watchesPerAccount,
            trustedProxies, proxyProtocol, strictTransport, SharedKeys.identityAddress, SharedKeys.profileAddress,
            SharedKeys.invitesAddress, SharedKeys.avatarBytes, SharedKeys.eventLoops, drainDelay, SharedKeys.drainLimit,
            SharedKeys.reflection, Crashes.folder,
            dialects, supabaseServiceKey, introspectionClients,
        ] + browsers + AssociationKeys.all + tls.ofEdge + channels.all + SharedKeys.log + TraceKeys.all
}
