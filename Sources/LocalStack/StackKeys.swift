import ServiceKit

/// The configuration keys of the local stack; its programs read their own keys.
public enum StackKeys {
    static let defaultFolder = ".vestibule"
    /// The folder of all data.
    public static let folder = ConfigurationKey.path(
        "VESTIBULE_RUN_FOLDER",
        default: defaultFolder,
        help: "The folder for data, secrets and logs."
    )
    /// The folder of the programs.
    public static let programs = ConfigurationKey.optionalString(
        "VESTIBULE_RUN_PROGRAMS",
        help: "The folder of the programs to start; by default that of vestibule itself."
    )
    /// The timeout of the start.
    public static let readyLimit = ConfigurationKey.duration(
        "VESTIBULE_RUN_READY_LIMIT",
        in: .seconds(1) ... .seconds(600),
        default: .seconds(60),
        help: "The time in which all programs must become ready."
    )
    /// The gateway's address.
    public static let gateway = ConfigurationKey.address(
        "VESTIBULE_GATEWAY_LISTEN",
        default: "127.0.0.1:8080",
        help: "The address that the gateway listens on."
    )
    /// The simulator's address.
    public static let simulator = ConfigurationKey.address(
        "VESTIBULE_SIMULATOR_LISTEN",
        default: "127.0.0.1:7080",
        help: "The address that the provider simulator listens on."
    )
    static let services = [
        ServiceKeys(program: "identity", listenPort: 7001),
        ServiceKeys(program: "profile", listenPort: 7002),
        ServiceKeys(program: "invites", listenPort: 7003),
    ]

    /// All keys of `run`, `demo`, `init` and `clean-data`.
    public static var all: [any AnyConfigurationKey] {
        [folder, programs, readyLimit, gateway, simulator] + services.map(\.listen)
    }
}
