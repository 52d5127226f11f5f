import Glibc
import HTTPJSON
import JOSE
import Logging
import OutgoingHTTP

/// Apple, Google and Facebook in a box: a server with the endpoints that apps and their servers call, and controls that sign
/// simulated persons in.
enum Simulator {
    /// Slow answers included. Bodies are small, since codes keep what they were asked with.
    static let limits = HTTPLimits(
        requestTimeout: .milliseconds(Misbehaviour.delayMillisecondsMax + 5000),
        bodyBytesMax: 16 * 1024,
        connectionsMax: 1024
    )

    /// Every path of the simulator.
    ///
    /// - Parameter http: by what messages to backends are sent; nil where none are.
    static func routes(_ store: SimulatorStore, _ http: (any OutgoingClient)?) -> [Route] {
        KeyRoutes.all(store) + AuthorizeRoutes.all(store) + TokenRoutes.all(store) + SignInRoutes.all(store)
            + ControlRoutes.all(store) + NoticeRoutes.all(store, http)
    }

    /// What answers requests, over a store.
    ///
    /// - Parameter http: by what messages to backends are sent; nil where none are.
    static func handler(
        _ store: SimulatorStore,
        http: (any OutgoingClient)? = nil,
        logger: Logger
    ) -> RouteHandler {
        var configuration = RouteHandler.Configuration(limits: limits)
        // Facebook's key set has one.
        configuration.takesTrailingSlash = true
        return RouteHandler(routes: routes(store, http), configuration: configuration, logger: logger)
    }

    /// The real clock and generator.
    static let environment = SimulatorStore.Environment(
        nowSeconds: { Int64(time(nil)) },
        randomBytes: { SecureRandom.bytes($0) }
    )
}
