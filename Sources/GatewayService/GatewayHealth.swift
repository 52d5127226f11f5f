import API
import RPC
import SwiftProtobuf

/// Answers `grpc.health.v1.Health/Check` of the gateway as `/readyz` does: for `healthcheck` where the port speaks TLS, and for
/// load balancers that ask so.
struct GatewayHealth: HealthHandler {
    let readiness: ReadinessCache
    let calls: AppCalls

    func check(
        _ request: HealthV1.HealthCheckRequest,
        context: ServerContext
    ) async throws -> HealthV1.HealthCheckResponse {
        try await calls.answer(context) { caller in
            guard request.service.isEmpty else {
                throw RPCError(.notFound, "only the gateway as a whole is known here")
            }
            let told = await readiness.readiness(caller.callOptions(limit: readiness.wait))
            return .with { $0.status = told.isReady ? .serving : .notServing }
        }
    }

    func watch(
        _ request: HealthV1.HealthCheckRequest,
        responses: MessageWriter<HealthV1.HealthCheckResponse>,
        context: ServerContext
    ) async throws {
        throw RPCError(.unimplemented, "ask again instead of watching")
    }
}
