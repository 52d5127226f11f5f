import API
import Logging
import Postgres
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

    @Test func `A database that answers late and lacks the tables ends the program`() async throws {
        struct Away: Error {}
        let answers = Mutex<[any Error]>([Away(), MigrationError.behind(number: 3, name: "third")])
        let probe = ReadinessProbe(
            interval: .milliseconds(1),
            health: HealthService(services: [service]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {
            throw answers.withLock { $0.removeFirst() }
        }
        await #expect(throws: MigrationError.behind(number: 3, name: "third")) { try await probe.run() }
    }
}
