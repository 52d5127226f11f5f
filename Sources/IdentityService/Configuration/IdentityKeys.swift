import ServiceKit

/// The keys that identity reads, besides those that every service has.
enum IdentityKeys {
    static let program = "identity"
    static let service = ServiceKeys(program: program, listenPort: 7001)

    static let issuer = ConfigurationKey.url(
        "VESTIBULE_IDENTITY_ISSUER",
        default: "http://127.0.0.1:8080",
        help: "The issuer that our tokens name: the public URL of the gateway."
    )
    static let audience = ConfigurationKey.string(
        "VESTIBULE_IDENTITY_AUDIENCE",
        default: "vestibule",
        help: "The audience that our access tokens name: the app's backends.",
        lengthMax: 255
    )

    static let signingKey = ConfigurationKey.secretFile(
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE",
        help: "The private key that signs our tokens, P-256 or RSA, in PEM.",
        bytesMax: 16_384
    )
    static let otherSigningKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE",
        help: "A second signing key, the one before or the next: it is published and verifies, but does not sign.",
        bytesMax: 16_384
    )
    static let refreshKey = ConfigurationKey.secretFile(
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE",
        help: "32 random bytes under which refresh tokens are made.",
        bytesMax: 32
    )
    static let otherRefreshKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_REFRESH_KEY_OTHER_FILE",
        help: "A second refresh key: the one before or the next. It verifies, but makes no tokens.",
        bytesMax: 32
    )

    static let accessTokenLifetime = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME",
        in: .seconds(30) ... .seconds(3_600),
        default: .seconds(600),
        help: "For how long an access token is valid."
    )
    static let refreshGrace = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_REFRESH_GRACE",
        in: .seconds(0) ... .seconds(600),
        default: .seconds(60),
        help: "For how long the refresh token before the current one gets the same successor again."
    )
    static let inactivity = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_SESSION_INACTIVITY",
        in: .seconds(3_600) ... .seconds(400 * 86_400),
        default: .seconds(30 * 86_400),
        help: "For how long a session may go without a refresh."
    )
    static let sessionLifetime = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_SESSION_LIFETIME",
        in: .seconds(3_600) ... .seconds(4_000 * 86_400),
        default: .seconds(180 * 86_400),
        help: "For how long a session may live at all."
    )

    static let providers = ConfigurationKey.list(
        "VESTIBULE_IDENTITY_PROVIDERS",
        default: ["apple", "google"],
        help: "The providers to accept: apple, google, and those in the providers file.",
        countMax: 32
    )
    static let appleAudiences = ConfigurationKey.list(
        "VESTIBULE_IDENTITY_APPLE_AUDIENCES",
        default: ["com.example.app"],
        help: "Our bundle ids and Services IDs at Apple."
    )
    static let appleKeysURL = ConfigurationKey.url(
        "VESTIBULE_IDENTITY_APPLE_KEYS_URL",
        default: "https://appleid.apple.com/auth/keys",
        help: "Where Apple's keys are."
    )
    static let googleAudiences = ConfigurationKey.list(
        "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES",
        default: ["example.apps.googleusercontent.com"],
        help: "Our client ids at Google."
    )
    static let googleKeysURL = ConfigurationKey.url(
        "VESTIBULE_IDENTITY_GOOGLE_KEYS_URL",
        default: "https://www.googleapis.com/oauth2/v3/certs",
        help: "Where Google's keys are."
    )
    static let providersFile = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_PROVIDERS_FILE",
        help:
            "Further OpenID providers, as JSON: {\"providers\": [{\"name\", \"issuers\", \"audiences\", \"keys_url\", "
            + "\"algorithms\" (RS256), \"nonce\" (raw, sha256 or either), \"nonce_required\" (true), "
            + "\"token_age_max_seconds\" (86400), \"clock_leeway_seconds\" (60)}]}. "
            + "A provider here takes the place of a built-in one of its name."
    )

    static let all: [any AnyConfigurationKey] =
        service.all + [
            issuer, audience, signingKey, otherSigningKey, refreshKey, otherRefreshKey, accessTokenLifetime,
            refreshGrace, inactivity, sessionLifetime, providers, appleAudiences, appleKeysURL, googleAudiences,
            googleKeysURL, providersFile,
        ]
}
