import HTTPJSON
import ServiceKit

/// The page of development as it is configured.
struct DevelopmentHome: Sendable, Hashable {
    /// Host and port to show where a request says none that could be shown.
    let address: String
    /// The origin of the provider simulator by which the page signs people in; nil for none.
    var simulator: String?
}

extension DevelopmentHome {
    /// The page of a configuration; nil if it is off.
    static func read(_ configuration: Configuration, _ faults: inout [ConfigurationError]) -> DevelopmentHome? {
        let key = GatewayKeys.simulatorURL
        let simulator = configuration[key].map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        if let simulator, !CrossOrigin.isOrigin(simulator) {
            faults.append(
                ConfigurationError(
                    key: key.name,
                    problem: "must be scheme, host and port alone, such as http://127.0.0.1:7080"
                )
            )
        }
        guard configuration[GatewayKeys.methodsPage] else { return nil }
        return DevelopmentHome(address: "\(configuration[GatewayKeys.listen].reachable)", simulator: simulator)
    }
}
