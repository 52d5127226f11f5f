import Glibc
import HTTPJSON
import JOSE
import Logging
import OutgoingHTTP

/// A simulator of Apple, Google and Facebook: a server with the endpoints that apps and their servers call, and controls that sign
/// simulated people in.
enum Simulator {
    /// Includes time for slow responses. Request bodies are small, since codes store data of their requests.
    static let limits = HTTPLimits(
        requestTimeout: .milliseconds(Misbehaviour.delayMillisecondsMax + 5000),
        bodyBytesMax: 16 * 1024,
        connectionsMax: 1024
    )

    /// Every path of the simulator.
    ///
    /// - Parameter http: the client for messages to backends; nil to send none.
    static func routes(_ store: SimulatorStore, _ http: (any OutgoingClient)?) -> [Route] {
        KeyRoutes.all(store) + [DiscoveryRoute.google] + AuthorizeRoutes.all(store) + TokenRoutes.all(store)
            + SignInRoutes.all(store)
            + ControlRoutes.all(store) + NoticeRoutes.all(store, http)
    }

    /// The request handler over a store.
    ///
    /// - Parameters:
    ///   - http: the client for messages to backends; nil to send none.
    ///   - crossOrigin: the pages of other origins that may call it; nil for none.
    static func handler(
        _ store: SimulatorStore,
        http: (any OutgoingClient)? = nil,
        crossOrigin: CrossOrigin? = nil,
        logger: Logger
    ) -> RouteHandler {
        var configuration = RouteHandler.Configuration(limits: limits)
        configuration.crossOrigin = crossOrigin
        // The path of Facebook's key set has a trailing slash.
        configuration.takesTrailingSlash = true
        return RouteHandler(routes: routes(store, http), configuration: configuration, logger: logger)
    }

    /// The real clock and generator.
    static let environment = SimulatorStore.Environment(
        nowSeconds: { Int64(time(nil)) },
        randomBytes: { SecureRandom.bytes($0) }
    )
}
