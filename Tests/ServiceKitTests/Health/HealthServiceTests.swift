import API
import RPC
import Testing

@testable import ServiceKit

struct HealthServiceTests {
    private let service = "vestibule.identity.v1.IdentityService"

    private func status(
        _ health: HealthService,
        of service: String
    ) async throws -> HealthV1.HealthCheckResponse.ServingStatus {
        var router = Router()
        router.add(health)
        var request = HealthV1.HealthCheckRequest()
        request.service = service
        return try await HealthClient(InProcessChannel(router)).check(request).status
    }

    @Test func `Nothing serves before the readiness probe says so, and nothing while draining`() async throws {
        let health = HealthService(services: [service])
        #expect(try await status(health, of: "") == .notServing)
        #expect(try await status(health, of: service) == .notServing)
        health.setReady(true)
        #expect(try await status(health, of: "") == .serving)
        #expect(try await status(health, of: service) == .serving)
        health.setReady(false, service: service)
        #expect(try await status(health, of: "") == .serving)
        #expect(try await status(health, of: service) == .notServing)
        health.setReady(true)
        health.beginDrain()
        health.setReady(true)
        for name in ["", service, HealthMethods.serviceName] {
            #expect(try await status(health, of: name) == .notServing)
        }
    }

    @Test func `An unknown service is NOT_FOUND, also after somebody tried to set it`() async {
        let health = HealthService(services: [service])
        health.setReady(true, service: "other")
        let error = await #expect(throws: RPCError.self) { try await status(health, of: "other") }
        #expect(error?.code == .notFound)
    }
}
