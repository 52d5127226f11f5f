import Backup
import FoundationEssentials
import Glibc
import JOSE
import KeyRings
import ServiceKit

/// Decides which programs are started, and with which configuration. Starts nothing.
struct StackPlan: Sendable {
    static let databaseName = "vestibule"
    static let appleClientID = "com.example.app"
    /// The gateway's dialects, unless the developer configures others.
    static let dialects = ["single-token", "wordpress", "supabase"]

    /// The programs in the order of their start.
    let programs: [PlannedProgram]
    private let configuration: Configuration
    private let inherited: [String: String]
    private let configurationPath: String?
    private let folder: StackFolder

    init(
        configuration: Configuration,
        configurationPath: String?,
        environment: [String: String],
        folder: StackFolder
    ) throws {
        self.configuration = configuration
        self.folder = folder
        var inherited = environment
        if let path = configurationPath { inherited["VESTIBULE_CONFIG"] = Self.absolute(path) }
        self.inherited = inherited
        self.configurationPath = configurationPath
        let programFolder = try ProgramFolder.path(configured: configuration[StackKeys.programs])
        var programs = [
            PlannedProgram(
                name: "simulator",
                command: ["\(programFolder)/simulator", "serve"],
                address: configuration[StackKeys.simulator],
                addressKey: StackKeys.simulator.name,
                probe: .http(path: "/healthz")
            )
        ]
        for service in StackKeys.services {
            programs.append(
                PlannedProgram(
                    name: service.program,
                    command: ["\(programFolder)/\(service.program)", "serve"],
                    address: configuration[service.listen],
                    addressKey: service.listen.name,
                    probe: .grpc,
                    hasTables: true,
                    migrationEnvironment: [
                        service.databaseOwner.name: Self.owner(of: service.program),
                        "\(service.databaseOwnerPassword.name)_FILE": folder.databaseOwnerPassword(of: service.program),
                    ]
                )
            )
        }
        programs.append(
            PlannedProgram(
                name: "gateway",
                command: ["\(programFolder)/gateway", "serve"],
                address: configuration[StackKeys.gateway],
                addressKey: StackKeys.gateway.name,
                probe: .http(path: "/readyz")
            )
        )
        self.programs = programs
    }

    /// The environment of every program: this process's variables, the variables of this stack, and defaults for development
    /// for the rest.
    func environment(socketDirectory: String, port: Int) -> [String: String] {
        var defaults = [
            "VESTIBULE_LOG_FORMAT": "text",
            "VESTIBULE_DRAIN_LIMIT": "\(StackProgram.drainLimitSeconds)s",
            // A laptop with many cores shouldn't need hundreds of database connections.
            "VESTIBULE_EVENT_LOOPS": "2",
            // For grpcurl; the programs listen on loopback unless configured otherwise.
            "VESTIBULE_REFLECTION": "true",
            // And for developers that open the gateway in a browser.
            "VESTIBULE_GATEWAY_METHODS_PAGE": "true",
            "VESTIBULE_IDENTITY_NAMES_AUDIENCES": "true",
            // So that a shell can do the work of a guest.
            "VESTIBULE_IDENTITY_GUESTS": "true",
            "VESTIBULE_IDENTITY_GUEST_WORK_BITS": "8",
            "VESTIBULE_IDENTITY_ISSUER": "http://\(configuration[StackKeys.gateway].reachable)",
            // All callers on one machine share an address, and `vestibule load` makes more calls than it has accounts. The limits
            // before sign-in stay, so that developers see them.
            "VESTIBULE_GATEWAY_ADDRESS_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_ADDRESS_BURST": "1000000",
            "VESTIBULE_GATEWAY_ACCOUNT_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_ACCOUNT_BURST": "1000000",
            "VESTIBULE_GATEWAY_CHANGES_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_CHANGES_BURST": "1000000",
            "VESTIBULE_GATEWAY_SIMULATOR_URL": simulatorURL,
            "VESTIBULE_GATEWAY_METRICS_LISTEN": Self.metricsAddress(beside: configuration[StackKeys.gateway]),
            "VESTIBULE_SIMULATOR_ORIGINS": Self.ownOrigins(configuration[StackKeys.gateway]).joined(separator: ","),
            "VESTIBULE_SIMULATOR_STATE_FILE": folder.simulatorState,
            "VESTIBULE_SIMULATOR_CLIENTS_FILE": folder.simulatorClients,
            "VESTIBULE_IDENTITY_KEYS_FOLDER": folder.keys.own.path,
            "VESTIBULE_PROFILE_KEYS_FOLDER": folder.keys.folder(of: "profile").path,
            "VESTIBULE_INVITES_KEYS_FOLDER": folder.keys.folder(of: "invites").path,
            ClientAddressKey.key.name: folder.addressKey,
            Crashes.folder.name: folder.crashes,
            BackupKeys.folder.name: folder.backups,
        ]
        // Required in a deployment. Apps that split bills rely on added users being members.
        if !isOpennessGiven { defaults[Self.openness] = "open" }
        defaults.merge(providerDefaults) { _, new in new }
        defaults.merge(browserDefaults) { _, new in new }
        var forced = [
            "VESTIBULE_DATABASE_HOST": socketDirectory,
            "VESTIBULE_DATABASE_PORT": "\(port)",
            "VESTIBULE_DATABASE_NAME": Self.databaseName,
            "VESTIBULE_BACKUP_DATABASE_USER": BackupKeys.roleDefault,
            "VESTIBULE_BACKUP_DATABASE_PASSWORD_FILE": folder.backupPassword,
            "VESTIBULE_BACKUP_DATABASE_PASSWORD": "",
            "VESTIBULE_DATABASE_POOLER": "",
            "VESTIBULE_DATABASE_DIRECT_HOST": "",
        ]
        for service in StackKeys.services {
            let prefix = "VESTIBULE_\(service.program.uppercased())"
            defaults["\(prefix)_ADDRESS"] = "\(configuration[service.listen].reachable)"
            defaults["\(prefix)_METRICS_LISTEN"] = Self.metricsAddress(beside: configuration[service.listen])
            forced["\(prefix)_DATABASE_USER"] = Self.role(of: service.program)
            forced["\(prefix)_DATABASE_SCHEMA"] = service.program
            forced["\(prefix)_DATABASE_PASSWORD_FILE"] = folder.databasePassword(of: service.program)
            // An empty value counts as unset, so it can't contradict the file.
            forced["\(prefix)_DATABASE_PASSWORD"] = ""
            // The owner's variables are only for migrations; variables for another deployment are removed.
            for name in ["OWNER", "OWNER_PASSWORD", "OWNER_PASSWORD_FILE"] { forced["\(prefix)_DATABASE_\(name)"] = "" }
        }
        let missing = defaults.filter { !configuration.isGiven($0.key) }
        return inherited.merging(missing) { _, ours in ours }.merging(forced) { _, ours in ours }
    }

    /// What is in the configuration file, which the programs read themselves.
    func configurationEntries() throws -> [String: String] {
        try Configuration.entries(path: configurationPath, environment: inherited).entries
    }

    /// The content of the providers file. Apple or Google is left out if the developer's variables configure it.
    var providers: DevelopmentProviders {
        DevelopmentProviders(
            simulatorURL: simulatorURL,
            leavesApple: configuration.isGiven(Self.appleAudiences),
            leavesGoogle: configuration.isGiven(Self.googleAudiences)
        )
    }

    private static let openness = "VESTIBULE_INVITES_OPENNESS"
    private static let appleAudiences = "VESTIBULE_IDENTITY_APPLE_AUDIENCES"
    private static let googleAudiences = "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES"
    private static let providersFile = "VESTIBULE_IDENTITY_PROVIDERS_FILE"
    private static let clientsFile = "VESTIBULE_IDENTITY_CLIENTS_FILE"
    private static let dialectsName = "VESTIBULE_GATEWAY_DIALECTS"
    private static let serviceKeyFile = "VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE"

    /// The origins of web frameworks' development servers: Next.js and others, and Vite.
    private static let developmentOrigins =
        "http://localhost:3000,http://127.0.0.1:3000,http://localhost:5173,http://127.0.0.1:5173"

    /// Whether the developer configures the openness of new groups; the key's old name counts too.
    private var isOpennessGiven: Bool {
        configuration.isGiven(Self.openness) || configuration.isGiven("VESTIBULE_INVITES_GROUP_OPENNESS")
    }

    private var simulatorURL: String { "http://\(configuration[StackKeys.simulator].reachable)" }
    private var gatewayURL: String { "http://\(configuration[StackKeys.gateway].reachable)" }

    /// Identity's variables about providers.
    private var providerDefaults: [String: String] {
        var defaults = [Self.providersFile: folder.providers]
        // The old name counts too.
        if !configuration.isGiven("VESTIBULE_IDENTITY_KEYS_BY_HTTP") {
            defaults["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS"] = "true"
        }
        // Set only if there is no providers file: otherwise they would have no effect.
        if configuration.isGiven(Self.appleAudiences) {
            defaults["VESTIBULE_IDENTITY_APPLE_KEYS_URL"] = "\(simulatorURL)/apple/auth/keys"
        }
        if configuration.isGiven(Self.googleAudiences) {
            defaults["VESTIBULE_IDENTITY_GOOGLE_KEYS_URL"] = "\(simulatorURL)/google/oauth2/v3/certs"
        }
        return defaults
    }

    /// The gateway's variables for apps and web pages.
    private var browserDefaults: [String: String] {
        let appURLs = "VESTIBULE_GATEWAY_APP_URLS"
        var defaults = [
            Self.dialectsName: Self.dialects.joined(separator: ","),
            Self.serviceKeyFile: folder.supabaseServiceKey,
            "VESTIBULE_GATEWAY_PUBLIC_URL": gatewayURL,
            "VESTIBULE_GATEWAY_SIGN_IN_PAGES": "true",
            Self.clientsFile: folder.clients,
            "VESTIBULE_CONSOLE_OPERATORS_FILE": folder.operators,
            "VESTIBULE_CONSOLE_ISSUER": DevelopmentOperators.issuer,
            "VESTIBULE_CONSOLE_DISCOVERY_URL": "\(simulatorURL)/google/.well-known/openid-configuration",
            "VESTIBULE_CONSOLE_CLIENT_ID": DevelopmentOperators.clientID,
            // As the real Google, the simulated one gives none.
            "VESTIBULE_CONSOLE_AUTH_TIME_OPTIONAL": "true",
            "VESTIBULE_GATEWAY_ORIGINS": Self.developmentOrigins,
            appURLs: "awscognito://apple-callback,vestibule-demo://callback",
        ]
        // It contains an app URL, which must be an allowed one.
        if !configuration.isGiven(appURLs) {
            defaults["VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE"] = "com.example.services=awscognito://apple-callback"
        }
        return defaults
    }

    /// The origins by which browsers of this machine have the gateway's page.
    private static func ownOrigins(_ address: HostPort) -> [String] {
        let reachable = address.reachable
        return Set([reachable.host, "127.0.0.1", "localhost"]).sorted()
            .map { "http://\(HostPort(host: $0, port: reachable.port))" }
    }

    /// A line about the features beside the plain routes.
    private var extras: String {
        var parts = ["Simulator: \(simulatorURL)/"]
        if !isOpennessGiven { parts.append("New groups: open (\(Self.openness)), since numbers aren't proven here") }
        if !configuration.isGiven(Self.providersFile) {
            parts.append("Providers: \(StackFolder.shown(folder.providers))")
        }
        if !configuration.isGiven(Self.clientsFile) {
            parts.append("OpenID client: \(DevelopmentClients.clientID), in \(StackFolder.shown(folder.clients))")
        }
        if !configuration.isGiven(Self.dialectsName) {
            parts.append("Dialects: \(Self.dialects.joined(separator: ", "))")
            if !configuration.isGiven(Self.serviceKeyFile) {
                parts.append("Supabase's service key: \(StackFolder.shown(folder.supabaseServiceKey))")
            }
        }
        return parts.joined(separator: "   ")
    }

    /// The text to print when everything is ready.
    var greeting: String {
        let simulator = simulatorURL
        let gateway = gatewayURL
        let nonce = "0d9b2c1e"
        let nonceHash = Hex.encode(SHA256.hash(nonce))
        let json = "-H 'content-type: application/json'"
        return """

            Vestibule is ready: \(gatewayURL)/ signs you in by one click, and has every method with a form.
            Logs: \(StackFolder.shown(folder.logs))   Data: \(StackFolder.shown(folder.database))   Stop: Ctrl-C
            \(extras)

            In a shell, sign in with the simulated Apple and see your account: paste these in order.

            TOKEN=$(curl -sS \(simulator)/control/apple/sign-in \(json) -d \
            '{"client_id":"\(Self.appleClientID)","nonce":"\(nonceHash)","person":{"email":"someone@example.com","given_name":"Some","family_name":"One"}}' \
            | sed 's/.*"identity_token" *: *"\\([^"]*\\)".*/\\1/')
            ACCESS=$(curl -sS \(gateway)/auth/apple \(json) -d "{\\"identity_token\\":\\"$TOKEN\\",\\"nonce\\":\\"\(nonce)\\"}" \
            | sed 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/')
            curl -sS \(gateway)/me -H "authorization: Bearer $ACCESS"

            """
    }

    /// Where a program serves its metrics, for `vestibule status`: its own port, at another loopback address, so that none has to
    /// be looked for. Empty, for nowhere, if the program listens on each address.
    static func metricsAddress(beside address: HostPort) -> String {
        let isOfOneAddress = address.host == "127.0.0.1" || address.host == "localhost"
        return isOfOneAddress && address.port > 0 ? "127.0.0.2:\(address.port)" : ""
    }

    /// The database role of a service.
    static func role(of service: String) -> String { "vestibule_\(service)" }

    /// The role that owns a service's schema.
    static func owner(of service: String) -> String { "vestibule_\(service)_owner" }

    /// The absolute path, so that programs find it from any folder.
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
