import API
import Logging
import RPC
import RPCTransport
import ServiceLifecycle
import SwiftProtobuf
import UnixSignals

/// A service is a type that conforms to the handler protocol of its stubs: a method for each RPC.
struct AlwaysServing: HealthHandler {
    /// A unary RPC returns its response. What it throws as `RPCError` is what the caller gets.
    func check(
        _ request: HealthV1.HealthCheckRequest,
        context: ServerContext
    ) async throws -> HealthV1.HealthCheckResponse {
        guard request.service.isEmpty else { throw RPCError(.notFound, "there is no service \(request.service)") }
        return .with { $0.status = .serving }
    }

    /// A server-streaming RPC writes its responses, and the stream ends when it returns. `write` waits while the caller
    /// takes no more; it throws when the call has ended.
    func watch(
        _ request: HealthV1.HealthCheckRequest,
        responses: MessageWriter<HealthV1.HealthCheckResponse>,
        context: ServerContext
    ) async throws {
        try await responses.write(.with { $0.status = .serving })
    }
}

/// Serves until SIGTERM or SIGINT. Then the calls in flight may finish.
func serve(port: Int) async throws {
    try await withEventLoopGroup(loopCount: 2, name: "example") { group in
        var router = Router()
        router.add(AlwaysServing())
        let server = RPCServer(group: group, router: router, configuration: ServerConfiguration(port: port))
        let services = ServiceGroup(
            services: [server],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "example")
        )
        try await services.run()
    }
}
