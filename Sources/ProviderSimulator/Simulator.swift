import Glibc
import HTTPJSON
import JOSE
import Logging

/// Apple and Google in a box: a server with their key endpoints, and controls that sign simulated persons in.
enum Simulator {
    /// Slow answers included.
    static let limits = HTTPLimits(
        requestTimeout: .milliseconds(Misbehaviour.delayMillisecondsMax + 5000),
        connectionsMax: 1024
    )

    /// Every path of the simulator.
    static func routes(_ store: SimulatorStore) -> [Route] {
        KeyRoutes.all(store) + SignInRoutes.all(store) + ControlRoutes.all(store)
    }

    /// The server over a store.
    static func server(_ store: SimulatorStore, configuration: HTTPServer.Configuration, logger: Logger) -> HTTPServer {
        HTTPServer(routes: routes(store), configuration: configuration, logger: logger)
    }

    /// The real clock and generator.
    static let environment = SimulatorStore.Environment(
        nowSeconds: { Int64(time(nil)) },
        randomBytes: { SecureRandom.bytes($0) }
    )
}
