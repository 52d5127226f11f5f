import API
import Logging
import ServiceKit
import Synchronization
import TestWaits
import Testing

@testable import ServiceStore

struct ReadinessProbeTests {
    private let service = "vestibule.identity.v1.IdentityService"

    @Test func `The probe follows what it asks, down and up again`() async throws {
        struct Down: Error {}
        let health = HealthService(services: [service])
        let isUp = Mutex(true)
        let probe = ReadinessProbe(
            interval: .milliseconds(1),
            health: health,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {
            if !isUp.withLock({ $0 }) { throw Down() }
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await probe.run() }
            for expected in [true, false, true] {
                isUp.withLock { $0 = expected }
                try await eventually { health.status(of: "") == (expected ? .serving : .notServing) }
            }
            tasks.cancelAll()
        }
    }
}
