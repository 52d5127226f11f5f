import HTTPJSON
import Logging
import OutgoingHTTP
import RPCTransport
import ServiceKit

/// The program `simulator`.
public struct SimulatorServer: ProgramServer {
    /// The program's name.
    public static let programName = "simulator"

    static let listen = ConfigurationKey.address(
        "VESTIBULE_SIMULATOR_LISTEN",
        default: "127.0.0.1:7080",
        help: "The address that the provider simulator listens on."
    )
    static let stateFile = ConfigurationKey.optionalString(
        "VESTIBULE_SIMULATOR_STATE_FILE",
        help: "The file that keeps keys and users between runs; without it they are lost."
    )

    static let clientsFile = ConfigurationKey.optionalPath(
        "VESTIBULE_SIMULATOR_CLIENTS_FILE",
        help: "A JSON file of the apps whose secrets are checked, an array for each provider; the secrets "
            + "of other apps are not checked."
    )

    static let origins = ConfigurationKey.optionalList(
        "VESTIBULE_SIMULATOR_ORIGINS",
        help:
            "The origins of web pages that may call the simulator (CORS), each exactly as browsers write it, such as "
            + "http://localhost:3000. They can sign in as anyone. Without it, no page of another origin may."
    )

    /// All configuration keys that it reads.
    public static let configurationKeys: [any AnyConfigurationKey] =
        [listen, stateFile, clientsFile, origins, SharedKeys.drainLimit] + SharedKeys.log

    /// The health check.
    public static let healthQuestion = HealthQuestion.http(path: "/healthz")

    private let configuration: Configuration

    /// A simulator; nothing is opened yet.
    public init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Serves until SIGTERM or SIGINT, then lets requests in flight end.
    ///
    /// - Throws: `HTTPListenError` if the address is taken; an error of the state file or the clients file;
    ///   `ConfigurationErrors` for origins that are none.
    public func serve() async throws {
        let signals = ShutdownSignals()
        try await serve(stop: { await signals.first() })
    }

    /// Serves until `stop` returns.
    func serve(
        stop: @escaping @Sendable () async -> Void,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) async throws {
        let address = configuration[Self.listen]
        let crossOrigin = try crossOrigin
        let store = try SimulatorStore(
            file: configuration[Self.stateFile].map(StateFile.init(path:)),
            clients: try configuration[Self.clientsFile].map(ClientsFile.read) ?? ClientRegistry(),
            environment: Simulator.environment
        )
        let edge = try await HTTPServer.Configuration(
            host: address.host,
            port: address.port,
            limits: Simulator.limits,
            drainLimit: configuration[SharedKeys.drainLimit]
        ).inDigits()
        let logger = Logger(label: Self.programName)
        try await withEventLoopGroup(loopCount: 1, name: Self.programName) { group in
            let http = HTTPSClient(userAgent: "vestibule-simulator", group: group)
            let handler = Simulator.handler(store, http: http, crossOrigin: crossOrigin, logger: logger)
            let server = HTTPServer(handler, configuration: edge, group: group, logger: logger)
            try await server.run(stop: stop, onListening: onListening)
        }
    }

    /// The pages of other origins that may call.
    private var crossOrigin: CrossOrigin? {
        get throws(ConfigurationErrors) {
            guard let origins = configuration[Self.origins] else { return nil }
            let wrong = origins.first { !CrossOrigin.isOrigin($0) }.map {
                "has \(quoted($0)), which is no origin as browsers write it: scheme, host and port, no path"
            }
            let tooMany =
                origins.count > CrossOrigin.originsMax ? "has more than \(CrossOrigin.originsMax) origins" : nil
            if let problem = wrong ?? tooMany {
                throw ConfigurationErrors([ConfigurationError(key: Self.origins.name, problem: problem)])
            }
            return CrossOrigin(origins: origins, requestFields: ["content-type"])
        }
    }
}
