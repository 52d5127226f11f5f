import API
import Postgres
import RPC
import RPCTransport
import ServiceKit
import Synchronization
import Testing

@testable import ServiceStore

/// What happens to calls and work when a service stops, in any order of their ends.
struct ServiceStopTests {
    private static let keys = ServiceKeys(program: "identity", listenPort: 0)

    private func runtime() throws -> ServiceRuntime {
        let values = [
            "VESTIBULE_EVENT_LOOPS": "1", "VESTIBULE_DRAIN_LIMIT": "10s", "VESTIBULE_LOG_CALLS": "none",
            "VESTIBULE_DATABASE_HOST": "/nonexistent",
        ]
        let configuration = try Configuration.testing(keys: Self.keys.all, program: "identity", values)
        return ServiceRuntime(keys: Self.keys, configuration: configuration, migrations: [])
    }

    /// A service whose only call answers some time after the work beside it is over.
    private final class SlowService: RPCService {
        static let method = MethodDescriptor(service: "test.v1.SlowService", method: "Wait")
        let isCalled = Atomic(false)
        let isWorkOver = Atomic(false)
        let isStopping = Atomic(false)

        func register(in router: inout Router) {
            router.unary(Self.method, request: HealthV1.HealthCheckRequest.self) { [self] _, _ in
                isCalled.store(true, ordering: .relaxed)
                try await Self.wait(for: isWorkOver)
                try await Task.sleep(for: .milliseconds(100))
                return HealthV1.HealthCheckResponse()
            }
        }

        static func wait(for flag: borrowing Atomic<Bool>) async throws {
            while !flag.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    @Test func `A stop before the start succeeds`() async throws {
        for _ in 0..<100 { try await runtime().serve({ _ in ServiceParts(services: []) }, until: {}) }
    }

    private struct Broken: Error {}

    @Test(arguments: [false, true])
    func `Work that ends or fails during the drain cuts no call`(fails: Bool) async throws {
        let service = SlowService()
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let work = BackgroundWork {
            try await SlowService.wait(for: service.isStopping)
            try await Task.sleep(for: .milliseconds(100))
            service.isWorkOver.store(true, ordering: .relaxed)
            if fails { throw Broken() }
        }
        async let served: Void = runtime().serve(
            { _ in ServiceParts(services: [service], background: [work]) },
            until: {
                try? await SlowService.wait(for: service.isCalled)
                service.isStopping.store(true, ordering: .relaxed)
            },
            onListening: { listening.yield($0) }
        )
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        try await withEventLoopGroup(loopCount: 1, name: "client") { group in
            try await withRPCChannel(target: "127.0.0.1:\(port)", group: group) { channel in
                _ = try await channel.unary(
                    SlowService.method,
                    HealthV1.HealthCheckRequest(),
                    response: HealthV1.HealthCheckResponse.self,
                    options: CallOptions()
                )
            }
        }
        try await served
    }

    @Test func `Work that is cancelled within a statement ends without an error`() async throws {
        try await runtime().serve(
            { environment in
                let work = BackgroundWork {
                    _ = try await environment.database.query("SELECT 1", deadline: .after(.seconds(30)))
                }
                return ServiceParts(services: [], background: [work])
            },
            until: { try? await Task.sleep(for: .milliseconds(200)) }
        )
    }
}
