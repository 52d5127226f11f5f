import IdentityDomain
import Models
import OutgoingHTTP
import ServiceKit
import ServiceModels

/// The configuration keys of identity, besides those of every service.
enum IdentityKeys {
    static let program = "identity"
    static let service = ServiceKeys(program: program, listenPort: 7001)

    static let issuer = ConfigurationKey.optionalURL(
        "VESTIBULE_IDENTITY_ISSUER",
        isRequired: true,
        help: "The issuer that our tokens name: the public URL of the gateway, such as https://api.example.com."
    )
    static let audience = ConfigurationKey.string(
        "VESTIBULE_IDENTITY_AUDIENCE",
        default: "vestibule",
        help: "The audience that our access tokens name: the app's backends.",
        lengthMax: 255
    )

    static let keysFolder = ConfigurationKey.optionalPath(
        "VESTIBULE_IDENTITY_KEYS_FOLDER",
        isRequired: true,
        help:
            "The folder of the server's own keys, which `vestibule init` creates and `vestibule keys "
            + "rotate` changes. It is read again every few seconds and on SIGHUP. If it has a kind of "
            + "key, the key files below of that kind are ignored."
    )
    static let proof = CallerProofSettings(keysFolder: keysFolder)
    static let signingKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_SIGNING_KEY_FILE",
        help:
            "The private key that signs tokens, P-256 or RSA, in PEM; required if the folder of keys "
            + "has no signing.json.",
        bytesMax: 16_384
    )
    static let otherSigningKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_SIGNING_KEY_OTHER_FILE",
        help:
            "A second signing key, the previous or the next one, as a private or a public key in PEM: "
            + "it is published and verifies, but does not sign. An empty file counts as none.",
        bytesMax: 16_384,
        emptyIsNone: true
    )
    static let refreshKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_REFRESH_KEY_FILE",
        help:
            "32 random bytes, the key of refresh tokens; required if the folder of keys has no refresh.json.",
        bytesMax: 32
    )
    static let otherRefreshKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_REFRESH_KEY_OTHER_FILE",
        help:
            "A second refresh key, the previous or the next one: it verifies tokens, but issues none. "
            + "An empty file counts as none.",
        bytesMax: 32,
        emptyIsNone: true
    )

    static let accessTokenLifetime = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_ACCESS_TOKEN_LIFETIME",
        in: .seconds(30) ... .seconds(3_600),
        default: .seconds(600),
        help: "How long an access token is valid."
    )
    static let singleTokenLifetime = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_SINGLE_TOKEN_LIFETIME",
        in: .seconds(3_600) ... .seconds(90 * 86_400),
        default: .seconds(SessionLimits().singleTokenSeconds),
        help:
            "How long a single token is valid: the only token of an app that stores no other. Each "
            + "use checks its session. It can be renewed after it expires, while the session lives."
    )
    static let refreshGrace = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_REFRESH_GRACE",
        in: .seconds(0) ... .seconds(600),
        default: .seconds(SessionLimits().refreshGraceSeconds),
        help:
            "How long the previous refresh token gets the same successor again. Within this time the "
            + "server can't tell a thief of the token from its owner."
    )
    static let gateways = ConfigurationKey.list(
        "VESTIBULE_IDENTITY_GATEWAYS",
        default: ["spiffe://vestibule/gateway"],
        help:
            "The names (DNS or URI) in the certificates of gateways. Only gateways get proofs of "
            + "their callers for other services, and only they may say when a refresh token arrived. "
            + "Without client certificates, every caller on a loopback address is a gateway, and no "
            + "other."
    )
    static let operators = ConfigurationKey.list(
        "VESTIBULE_IDENTITY_OPERATORS",
        default: ["spiffe://vestibule/operator"],
        help:
            "The names (DNS or URI) in the certificates of operators. Only operators may find and "
            + "block accounts, end sessions, release phone numbers and read the audit log. Without "
            + "client certificates, every caller on a loopback address is an operator, and no other."
    )
    static let operatorConsoles = ConfigurationKey.list(
        "VESTIBULE_IDENTITY_OPERATOR_CONSOLES",
        default: ["spiffe://vestibule/console"],
        help:
            "The names (DNS or URI) in the certificates of consoles. A console acts for operators who signed "
            + "in to it: it must name the operator of each call, and the audit log has that name. No other "
            + "caller's word for who acts counts."
    )
    static let inactivity = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_SESSION_INACTIVITY",
        in: .seconds(3_600) ... .seconds(400 * 86_400),
        default: .seconds(30 * 86_400),
        help: "How long a session may go without a refresh, or without a use of its single token."
    )
    static let sessionLifetime = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_SESSION_LIFETIME",
        in: .seconds(3_600) ... .seconds(4_000 * 86_400),
        default: .seconds(180 * 86_400),
        help: "How long a session may live in total."
    )

    static let sessionsMax = ConfigurationKey.int(
        "VESTIBULE_IDENTITY_SESSIONS_MAX",
        in: 1...SessionLimits.sessionsListedMax,
        default: SessionLimits().sessionsMax,
        help:
            "Maximum live sessions of one account. A further sign-in ends the least recently used one."
    )
    static let recentSignIn = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_RECENT_SIGN_IN",
        in: .zero ... .seconds(86_400),
        default: .seconds(SessionLimits().deletionSignInSeconds),
        help:
            "How old a session may be with which a user links or unlinks a provider or deletes the "
            + "account; 0 for any age. An unlocked phone or a copied token is not enough for these."
    )
    .formerly("VESTIBULE_IDENTITY_DELETION_SIGN_IN")
    static let deletionDelay = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_DELETION_DELAY",
        in: .seconds(86_400) ... .seconds(30 * 86_400),
        default: .seconds(SessionLimits().deletionDelaySeconds),
        help:
            "When a deletion happens that neither a nonce nor a code proves: so long after the "
            + "request. Until then any session of the account can cancel it."
    )
    static let eventRetention = ConfigurationKey.duration(
        "VESTIBULE_IDENTITY_AUDIT_RETENTION",
        in: .seconds(SessionLimits.eventRetentionSecondsMin) ... .seconds(4_000 * 86_400),
        default: .seconds(SessionLimits().eventRetentionSeconds),
        help: "How long the audit log (the table security_events) keeps events."
    )

    static let grantChecksDefault = 20
    static let grantRefusalsDefault = 5

    static let grantChecksPerSecond = ConfigurationKey.int(
        "VESTIBULE_IDENTITY_PROVIDER_CHECKS_PER_SECOND",
        in: 0...40,
        default: grantChecksDefault,
        help:
            "How many of Apple's refresh tokens are checked each second, for each app; each token "
            + "once a day. 0 checks none: users who withdraw their consent at Apple then stay signed "
            + "in."
    )
    static let grantRefusalsPercentMax = ConfigurationKey.int(
        "VESTIBULE_IDENTITY_PROVIDER_REFUSALS_PERCENT_MAX",
        in: 1...100,
        default: grantRefusalsDefault,
        help:
            "The percentage of a day's checks that Apple may reject, for each app. Beyond it no user "
            + "is signed out, and checks stop for a day."
    )

    static let webhooksFile = ConfigurationKey.optionalFile(
        "VESTIBULE_IDENTITY_WEBHOOKS_FILE",
        help:
            "Webhook targets, as JSON: {\"targets\": [{\"name\": \"crm\", \"url\": \"https://…\", \"secret_files\": [\"crm\"], "
            + "\"types\": [\"account.created\"]}]}. Every member is in docs/run/webhooks.md; `vestibule check` prints "
            + "what a file results in. Without it no events are sent.",
        bytesMax: WebhooksFile.bytesMax
    )

    static let clientsFile = ConfigurationKey.optionalFile(
        "VESTIBULE_IDENTITY_CLIENTS_FILE",
        help:
            "A JSON file with the apps that sign users in by OpenID Connect: ids, redirect URIs, scopes "
            + "and hashes of secrets. Without it there are none.",
        bytesMax: ClientsFile.bytesMax
    )

    static let phoneAssertionsFile = ConfigurationKey.optionalFile(
        "VESTIBULE_IDENTITY_PHONE_ASSERTIONS_FILE",
        help:
            "Whose assertions prove phone numbers, as JSON: {\"issuer\": \"https://app.example.com\", \"audience\": \"vestibule\", "
            + "\"keys\": [<public JWK>]}: the app's own backend. docs/profiles/phone-numbers.md describes their claims. "
            + "Without it no assertion is accepted.",
        bytesMax: PhoneAssertionsFile.bytesMax
    )
    static let unprovenLogins = ConfigurationKey.optionalList(
        "VESTIBULE_IDENTITY_UNPROVEN_LOGINS",
        help:
            "The dialects in which users sign in without any proof: wordpress; none by default. "
            + "Anyone who knows a user's id at the provider can sign in there. It opens only accounts "
            + "that were registered that way in the same dialect, until their owner proves the "
            + "identity. Each start logs a warning.",
        countMax: 8
    )
    static let providers = ConfigurationKey.optionalList(
        "VESTIBULE_IDENTITY_PROVIDERS",
        help:
            "The providers to accept: apple, google, and those in the providers file; without it all that have audiences.",
        countMax: ProvidersFile.providersMax
    )
    static let providersFile = ConfigurationKey.optionalFile(
        "VESTIBULE_IDENTITY_PROVIDERS_FILE",
        help:
            "The providers and their audiences, as JSON: {\"providers\": [{\"name\": \"apple\", \"audiences\": [{\"id\": "
            + "\"<bundle id>\"}]}]}. Every member is in docs/providers/providers-and-audiences.md; `vestibule check` "
            + "prints what a file results in. A provider here replaces the variables about it.",
        bytesMax: ProvidersFile.bytesMax
    )
    static let appleAudiences = ConfigurationKey.optionalList(
        "VESTIBULE_IDENTITY_APPLE_AUDIENCES",
        help:
            "The bundle ids and Services IDs at Apple. Their apps give Apple the SHA-256 of a nonce. "
            + "Without them Apple is off. The providers file has more settings."
    )
    static let appleKeysURL = ConfigurationKey.url(
        "VESTIBULE_IDENTITY_APPLE_KEYS_URL",
        default: "https://appleid.apple.com/auth/keys",
        help: "Where Apple's keys are."
    )
    static let appleTeamID = ConfigurationKey.optionalString(
        "VESTIBULE_IDENTITY_APPLE_TEAM_ID",
        help: "The id of the developer team, to exchange Apple's authorization codes; needs the next two keys."
    )
    static let appleKeyID = ConfigurationKey.optionalString(
        "VESTIBULE_IDENTITY_APPLE_KEY_ID",
        help: "The id of the team's key for Sign in with Apple."
    )
    static let applePrivateKey = ConfigurationKey.optionalSecretFile(
        "VESTIBULE_IDENTITY_APPLE_PRIVATE_KEY_FILE",
        help: "That key, as the file (.p8) that Apple gave. An empty file counts as none.",
        bytesMax: AudienceEntry.keyBytesMax,
        emptyIsNone: true
    )
    static let googleAudiences = ConfigurationKey.optionalList(
        "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES",
        help:
            "The client ids at Google; without them Google is off. Google's tokens carry the nonce as "
            + "the app gave it, so a stolen unused token can sign in while it is valid, for an hour. "
            + "The providers file has more settings."
    )
    static let googleKeysURL = ConfigurationKey.url(
        "VESTIBULE_IDENTITY_GOOGLE_KEYS_URL",
        default: "https://www.googleapis.com/oauth2/v3/certs",
        help: "Where Google's keys are."
    )
    static let simulatedProviders = ConfigurationKey.bool(
        "VESTIBULE_IDENTITY_SIMULATED_PROVIDERS",
        default: false,
        help:
            "For development with the provider simulator: whether providers may be called over http, "
            + "on this machine and at names under .test (not with an https issuer), and whether ids may "
            + "be those of the examples. A process that answers there can sign in as any user."
    )
    .formerly("VESTIBULE_IDENTITY_KEYS_BY_HTTP")

    static let namesAudiences = ConfigurationKey.bool(
        "VESTIBULE_IDENTITY_NAMES_AUDIENCES",
        default: false,
        help:
            "For development: whether an error TOKEN_AUDIENCE names the token's audience."
    )

    static let httpsProxy = ConfigurationKey<Proxy?>.custom(
        "HTTPS_PROXY",
        kind: "URL of a proxy",
        help:
            "The proxy through which providers are asked, http://user:password@host:port or https://…; this machine itself "
            + "never is."
    ) { (text) throws(ConfigurationProblem) in try proxy(text) }
    static let httpProxy = ConfigurationKey<Proxy?>.custom(
        "HTTP_PROXY",
        kind: "URL of a proxy",
        help: "The same for providers without TLS, which are for tests."
    ) { (text) throws(ConfigurationProblem) in try proxy(text) }
    static let withoutProxy = ConfigurationKey<ProxyExceptions?>.custom(
        "NO_PROXY",
        kind: "list",
        help:
            "Hosts that are asked without a proxy: names, which stand for what is below them too, addresses, networks, or *."
    ) { (text) throws(ConfigurationProblem) in ProxyExceptions(text) }

    /// The keys of the proxies.
    static let proxyKeys: [any AnyConfigurationKey] = [httpsProxy, httpProxy, withoutProxy]

    /// The proxies of a configuration with ``proxyKeys``.
    static func proxies(_ configuration: Configuration) -> ProxySettings {
        ProxySettings(
            https: configuration[httpsProxy],
            http: configuration[httpProxy],
            exceptions: configuration[withoutProxy] ?? ProxyExceptions("")
        )
    }

    /// A proxy. The error doesn't show the text, which may hold a password.
    private static func proxy(_ text: String) throws(ConfigurationProblem) -> Proxy {
        do throws(Proxy.Malformed) {
            return try Proxy(text)
        } catch {
            throw ConfigurationProblem("must be http:// or https:// with the host and port of a proxy")
        }
    }

    static let all: [any AnyConfigurationKey] =
        service.all + proof.all + PhonePolicy.keys + Guests.all + Passkeys.all + [
            issuer, audience, signingKey, otherSigningKey, refreshKey, otherRefreshKey, accessTokenLifetime,
            singleTokenLifetime, refreshGrace, gateways, operators, operatorConsoles, inactivity, sessionLifetime,
            sessionsMax,
            recentSignIn, deletionDelay, eventRetention, webhooksFile, grantChecksPerSecond, grantRefusalsPercentMax,
            phoneAssertionsFile, clientsFile, unprovenLogins,
            providers, providersFile,
            appleAudiences, appleKeysURL, appleTeamID, appleKeyID,
            applePrivateKey, googleAudiences, googleKeysURL, simulatedProviders, namesAudiences, httpsProxy, httpProxy,
            withoutProxy,
            SharedKeys.profileAddress, SharedKeys.invitesAddress,
        ]
}
