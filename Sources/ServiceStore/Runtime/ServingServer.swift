import Logging
import RPCTransport
import ServiceKit
import ServiceLifecycle

/// A server that tells load balancers before it drains.
struct ServingServer: Service {
    let server: RPCServer
    let health: HealthService
    let beginDrain: @Sendable () -> Void
    let logger: Logger

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await server.run()
        } onGracefulShutdown: {
            // Before the server's own handler, since it was set first.
            logger.notice("stopping")
            health.beginDrain()
            beginDrain()
        }
    }
}
