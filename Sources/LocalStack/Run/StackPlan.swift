import FoundationEssentials
import Glibc
import JOSE
import ServiceKit

/// What is started and with which configuration. Decides only; starts nothing.
struct StackPlan: Sendable {
    static let databaseName = "vestibule"
    static let appleClientID = "com.example.app"
    static let googleClientID = "example.apps.googleusercontent.com"

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
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let programFolder =
            configuration[StackKeys.programs].map(Self.absolute)
            ?? String(own[..<(own.lastIndex(of: "/") ?? own.endIndex)])
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
        let simulator = "http://\(configuration[StackKeys.simulator].reachable)"
        var defaults = [
            "VESTIBULE_LOG_FORMAT": "text",
            "VESTIBULE_DRAIN_LIMIT": "\(StackProgram.drainLimitSeconds)s",
            // A laptop with many cores shouldn't need hundreds of database connections.
            "VESTIBULE_EVENT_LOOPS": "2",
            // For grpcurl; all of it listens on loopback unless told otherwise.
            "VESTIBULE_REFLECTION": "true",
            "VESTIBULE_IDENTITY_ISSUER": "http://\(configuration[StackKeys.gateway].reachable)",
            "VESTIBULE_IDENTITY_APPLE_AUDIENCES": Self.appleClientID,
            "VESTIBULE_IDENTITY_GOOGLE_AUDIENCES": Self.googleClientID,
            "VESTIBULE_IDENTITY_KEYS_BY_HTTP": "true",
            "VESTIBULE_IDENTITY_APPLE_KEYS_URL": "\(simulator)/apple/auth/keys",
            "VESTIBULE_IDENTITY_GOOGLE_KEYS_URL": "\(simulator)/google/oauth2/v3/certs",
            // Everybody who calls a stack on one machine has one address, and `vestibule load` more calls than accounts.
            // What is limited before sign-in stays: apps should meet it while they are developed.
            "VESTIBULE_GATEWAY_ADDRESS_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_ADDRESS_BURST": "1000000",
            "VESTIBULE_GATEWAY_ACCOUNT_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_ACCOUNT_BURST": "1000000",
            "VESTIBULE_GATEWAY_CHANGES_PER_SECOND": "1000000",
            "VESTIBULE_GATEWAY_CHANGES_BURST": "1000000",
            "VESTIBULE_SIMULATOR_STATE_FILE": folder.simulatorState,
            "VESTIBULE_IDENTITY_SIGNING_KEY_FILE": folder.signingKey,
            "VESTIBULE_IDENTITY_REFRESH_KEY_FILE": folder.refreshKey,
            ClientAddressKey.key.name: folder.addressKey,
        ]
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

    /// What to say when everything is ready.
    var greeting: String {
        let simulator = "http://\(configuration[StackKeys.simulator].reachable)"
        let gateway = "http://\(configuration[StackKeys.gateway].reachable)"
        let nonce = "0d9b2c1e"
        let nonceHash = Hex.encode(SHA256.hash(nonce))
        let json = "-H 'content-type: application/json'"
        return """

            Vestibule is ready. Logs: \(StackFolder.shown(folder.logs))   Data: \(StackFolder.shown(folder.database))   Stop: Ctrl-C

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
