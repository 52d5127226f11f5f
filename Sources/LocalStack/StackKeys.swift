import ServiceKit

/// What can be configured about the local stack; the programs in it read their own keys as ever.
public enum StackKeys {
    /// Where everything is kept.
    public static let folder = ConfigurationKey.path(
        "VESTIBULE_RUN_FOLDER",
        default: ".vestibule",
        help: "The folder for data, secrets and logs."
    )
    /// Where the programs are.
    public static let programs = ConfigurationKey.optionalString(
        "VESTIBULE_RUN_PROGRAMS",
        help: "The folder of the programs that are started; without it, that of vestibule itself."
    )
    /// How long the start may take.
    public static let readyLimit = ConfigurationKey.duration(
        "VESTIBULE_RUN_READY_LIMIT",
        in: .seconds(1) ... .seconds(600),
        default: .seconds(60),
        help: "How long all programs together may take until they are ready."
    )
    /// Where the gateway listens.
    public static let gateway = ConfigurationKey.address(
        "VESTIBULE_GATEWAY_LISTEN",
        default: "127.0.0.1:8080",
        help: "The address that the gateway listens on."
    )
    /// Where the simulator listens.
    public static let simulator = ConfigurationKey.address(
        "VESTIBULE_SIMULATOR_LISTEN",
        default: "127.0.0.1:7080",
        help: "Where the provider simulator listens."
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
