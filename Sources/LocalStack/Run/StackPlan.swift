import FoundationEssentials
import Glibc
import JOSE
import KeyRings
import ServiceKit

/// What is started and with which configuration. Decides only; starts nothing.
struct StackPlan: Sendable {
    static let databaseName = "vestibule"
    static let appleClientID = "com.example.app"
    /// What is on at the gateway, unless the developer says otherwise.
    static let dialects = ["single-token", "wordpress", "supabase"]

    /// The programs in the order of their start.
    let programs: [PlannedProgram]
    private let configuration: Configuration
    private let inherited: [String: String]
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

    /// The environment of every program: this process's own, what belongs to this stack, and defaults for
    /// development where nothing was given.
    func environment(socketDirectory: String, port: Int) -> [String: String] {
        var defaults = [
            "VESTIBULE_LOG_FORMAT": "text",
            "VESTIBULE_DRAIN_LIMIT": "\(StackProgram.drainLimitSeconds)s",
            // A laptop with many cores shouldn't need hundreds of database connections.
            "VESTIBULE_EVENT_LOOPS": "2",
            // For grpcurl; all of it listens on loopback unless told otherwise.
            "VESTIBULE_REFLECTION": "true",
            // And for people who look at the gateway with a browser.
            "VESTIBULE_GATEWAY_METHODS_PAGE": "true",
            "VESTIBULE_IDENTITY_NAMES_AUDIENCES": "true",
            "VESTIBULE_IDENTITY_ISSUER": "http://\(configuration[StackKeys.gateway].reachable)",
            // Everybody who calls a stack on one machine has one address, and `vestibule load` more calls than accounts.
            // What is limited before sign-in stays: apps should meet it while they are developed.
            "VESTIBULE_GATEWAY_ADDRESS_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_ADDRESS_BURST": "1000000",
            "VESTIBULE_GATEWAY_ACCOUNT_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_ACCOUNT_BURST": "1000000",
            "VESTIBULE_GATEWAY_CHANGES_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_CHANGES_BURST": "1000000",
            "VESTIBULE_SIMULATOR_STATE_FILE": folder.simulatorState,
            "VESTIBULE_SIMULATOR_CLIENTS_FILE": folder.simulatorClients,
            "VESTIBULE_IDENTITY_KEYS_FOLDER": folder.keys.own.path,
            "VESTIBULE_PROFILE_KEYS_FOLDER": folder.keys.folder(of: "profile").path,
            "VESTIBULE_INVITES_KEYS_FOLDER": folder.keys.folder(of: "invites").path,
            ClientAddressKey.key.name: folder.addressKey,
            Crashes.folder.name: folder.crashes,
        ]
        // A deployment must say it. Apps that split bills count on it that whoever is added is in.
        if !isOpennessGiven { defaults[Self.openness] = "open" }
        defaults.merge(providerDefaults) { _, new in new }
        defaults.merge(browserDefaults) { _, new in new }
        var forced = [
            "VESTIBULE_DATABASE_HOST": socketDirectory,
            "VESTIBULE_DATABASE_PORT": "\(port)",
            "VESTIBULE_DATABASE_NAME": Self.databaseName,
        ]
        for service in StackKeys.services {
            let prefix = "VESTIBULE_\(service.program.uppercased())"
            defaults["\(prefix)_ADDRESS"] = "\(configuration[service.listen].reachable)"
            forced["\(prefix)_DATABASE_USER"] = Self.role(of: service.program)
            forced["\(prefix)_DATABASE_SCHEMA"] = service.program
            forced["\(prefix)_DATABASE_PASSWORD_FILE"] = folder.databasePassword(of: service.program)
            // An empty value counts as none, so it can't contradict the file.
            forced["\(prefix)_DATABASE_PASSWORD"] = ""
            // The owner's are for migrations alone; those of another deployment are none here.
            for name in ["OWNER", "OWNER_PASSWORD", "OWNER_PASSWORD_FILE"] { forced["\(prefix)_DATABASE_\(name)"] = "" }
        }
        let missing = defaults.filter { !configuration.isGiven($0.key) }
        return inherited.merging(missing) { _, ours in ours }.merging(forced) { _, ours in ours }
    }

    /// The providers file's content. What the developer's own variables say of Apple or Google counts, so it is left out.
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
    private static let dialectsName = "VESTIBULE_GATEWAY_DIALECTS"
    private static let serviceKeyFile = "VESTIBULE_GATEWAY_SUPABASE_SERVICE_KEY_FILE"

    /// Where the development servers of web frameworks listen: Next.js and others, and Vite.
    private static let developmentOrigins =
        "http://localhost:3000,http://127.0.0.1:3000,http://localhost:5173,http://127.0.0.1:5173"

    /// Whether the developer says how open new groups are; its name before still counts.
    private var isOpennessGiven: Bool {
        configuration.isGiven(Self.openness) || configuration.isGiven("VESTIBULE_INVITES_GROUP_OPENNESS")
    }

    private var simulatorURL: String { "http://\(configuration[StackKeys.simulator].reachable)" }
    private var gatewayURL: String { "http://\(configuration[StackKeys.gateway].reachable)" }

    /// Where identity finds the providers.
    private var providerDefaults: [String: String] {
        var defaults = [Self.providersFile: folder.providers]
        // Its name before still counts.
        if !configuration.isGiven("VESTIBULE_IDENTITY_KEYS_BY_HTTP") {
            defaults["VESTIBULE_IDENTITY_SIMULATED_PROVIDERS"] = "true"
        }
        // Told only where variables count: beside the file's they would have no effect.
        if configuration.isGiven(Self.appleAudiences) {
            defaults["VESTIBULE_IDENTITY_APPLE_KEYS_URL"] = "\(simulatorURL)/apple/auth/keys"
        }
        if configuration.isGiven(Self.googleAudiences) {
            defaults["VESTIBULE_IDENTITY_GOOGLE_KEYS_URL"] = "\(simulatorURL)/google/oauth2/v3/certs"
        }
        return defaults
    }

    /// What apps and pages of others reach at the gateway.
    private var browserDefaults: [String: String] {
        let appURLs = "VESTIBULE_GATEWAY_APP_URLS"
        var defaults = [
            Self.dialectsName: Self.dialects.joined(separator: ","),
            Self.serviceKeyFile: folder.supabaseServiceKey,
            "VESTIBULE_GATEWAY_PUBLIC_URL": gatewayURL,
            "VESTIBULE_GATEWAY_ORIGINS": Self.developmentOrigins,
            appURLs: "awscognito://apple-callback,vestibule-demo://callback",
        ]
        // It names an app URL, which must be among those that are allowed.
        if !configuration.isGiven(appURLs) {
            defaults["VESTIBULE_GATEWAY_APPLE_WITHOUT_STATE"] = "com.example.services=awscognito://apple-callback"
        }
        return defaults
    }

    /// What is on beside the plain routes, in a line.
    private var extras: String {
        var parts = ["Methods: \(gatewayURL)/", "Simulator: \(simulatorURL)/"]
        if !isOpennessGiven { parts.append("New groups: open (\(Self.openness)), as nobody's number is proven here") }
        if !configuration.isGiven(Self.providersFile) {
            parts.append("Providers: \(StackFolder.shown(folder.providers))")
        }
        if !configuration.isGiven(Self.dialectsName) {
            parts.append("Dialects: \(Self.dialects.joined(separator: ", "))")
            if !configuration.isGiven(Self.serviceKeyFile) {
                parts.append("Supabase's service key: \(StackFolder.shown(folder.supabaseServiceKey))")
            }
        }
        return parts.joined(separator: "   ")
    }

    /// What to say when everything is ready.
    var greeting: String {
        let simulator = simulatorURL
        let gateway = gatewayURL
        let nonce = "0d9b2c1e"
        let nonceHash = Hex.encode(SHA256.hash(nonce))
        let json = "-H 'content-type: application/json'"
        return """

            Vestibule is ready. Logs: \(StackFolder.shown(folder.logs))   Data: \(StackFolder.shown(folder.database))   Stop: Ctrl-C
            \(extras)

            Sign in with the simulated Apple and look at who you are; paste in this order:

            TOKEN=$(curl -sS \(simulator)/control/apple/sign-in \(json) -d \
            '{"client_id":"\(Self.appleClientID)","nonce":"\(nonceHash)","person":{"email":"someone@example.com","given_name":"Some","family_name":"One"}}' \
            | sed 's/.*"identity_token" *: *"\\([^"]*\\)".*/\\1/')
            ACCESS=$(curl -sS \(gateway)/auth/apple \(json) -d "{\\"identity_token\\":\\"$TOKEN\\",\\"nonce\\":\\"\(nonce)\\"}" \
            | sed 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/')
            curl -sS \(gateway)/me -H "authorization: Bearer $ACCESS"

            """
    }

    /// The database role of a service.
    static func role(of service: String) -> String { "vestibule_\(service)" }

    /// The role that owns a service's schema.
    static func owner(of service: String) -> String { "vestibule_\(service)_owner" }

    /// The path from the root, so that programs find it wherever they run.
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}
