import ServiceKit

/// The keys that the console reads.
enum ConsoleKeys {
    static let program = "console"

    static let listen = ConfigurationKey.address(
        "VESTIBULE_CONSOLE_LISTEN",
        default: "127.0.0.1:7090",
        help: "The address that the console listens on. Without TLS it must be one of this machine."
    )
    static let publicURL = ConfigurationKey.optionalURL(
        "VESTIBULE_CONSOLE_PUBLIC_URL",
        help: "Scheme, host and port by which browsers reach the console; requests for another host are refused. On a "
            + "loopback address it is http://127.0.0.1 with the port, if nothing else is said."
    )
    static let operators = ConfigurationKey.optionalFile(
        "VESTIBULE_CONSOLE_OPERATORS_FILE",
        help:
            "The JSON file of the operators, each with a name, a role (read, support or owner), and a certificate or an "
            + "issuer and a subject. Needed. It is read again when it changes.",
        bytesMax: OperatorsFile.bytesMax
    )
    static let issuer = ConfigurationKey.optionalURL(
        "VESTIBULE_CONSOLE_ISSUER",
        help: "The OpenID provider by which operators sign in, as its ID tokens name it in iss."
    )
    static let discoveryURL = ConfigurationKey.optionalURL(
        "VESTIBULE_CONSOLE_DISCOVERY_URL",
        help: "Where that provider describes itself; by default the issuer and /.well-known/openid-configuration."
    )
    static let clientID = ConfigurationKey.optionalString(
        "VESTIBULE_CONSOLE_CLIENT_ID",
        help: "The console's client id at that provider."
    )
    static let clientSecret = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_CONSOLE_CLIENT_SECRET_FILE",
        help: "The file of its client secret; without it the console is a public client, with PKCE alone."
    )
    static let isAuthTimeOptional = ConfigurationKey.bool(
        "VESTIBULE_CONSOLE_AUTH_TIME_OPTIONAL",
        default: false,
        help:
            "Whether to take ID tokens without auth_time, of a provider such as Google that doesn't say when a person "
            + "signed in. Then a sign-in counts as fresh because the provider was asked, not because it says so."
    )
    static let fresh = ConfigurationKey.duration(
        "VESTIBULE_CONSOLE_FRESH",
        in: .seconds(10) ... .seconds(3600),
        default: .seconds(300),
        help: "How old a sign-in may be to block or delete an account. Where operators sign in by certificates, each "
            + "connection proves it."
    )
    static let lifetime = ConfigurationKey.duration(
        "VESTIBULE_CONSOLE_SESSION_LIFETIME",
        in: .seconds(300) ... .seconds(86_400),
        default: .seconds(8 * 3600),
        help: "How long a session of an operator's browser lasts."
    )
    static let idle = ConfigurationKey.duration(
        "VESTIBULE_CONSOLE_SESSION_INACTIVITY",
        in: .seconds(10) ... .seconds(86_400),
        default: .seconds(1800),
        help: "How long it lasts without a use. Charts that refresh themselves are none."
    )
    static let tls = ServerTLSKeys(program: program)
    static let channels = ChannelKeys(program: program)
    /// The programs whose metrics it reads, in the order of calls.
    static let programs = ["identity", "profile", "invites", "gateway"]
    static let metrics = programs.map { SharedKeys.metricsListen(program: $0) }

    static var all: [any AnyConfigurationKey] {
        [
            listen, publicURL, operators, issuer, discoveryURL, clientID, clientSecret, isAuthTimeOptional, fresh,
            lifetime, idle,
            SharedKeys.identityAddress, SharedKeys.drainLimit,
        ] + tls.ofEdge + channels.all + metrics + SharedKeys.log
    }
}
