import API
import RPC
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(5)))
struct HealthWatchTests {
    typealias Status = HealthV1.HealthCheckResponse.ServingStatus

    private let service = "vestibule.identity.v1.IdentityService"

    private func client(_ health: HealthService) -> HealthClient {
        var router = Router()
        router.add(health)
        return HealthClient(InProcessChannel(router))
    }

    @Test func `The status is sent at once, then each change, and the drain ends the stream`() async throws {
        let health = HealthService(services: [service])
        let seen = Mutex<[Status]>([])
        let error = await #expect(throws: RPCError.self) {
            try await client(health).watch(.with { $0.service = service }) { reader in
                for try await response in reader {
                    seen.withLock { $0.append(response.status) }
                    switch seen.withLock({ $0.count }) {
                    case 1: health.setReady(true)
                    case 2:
                        health.setReady(true)  // no change, so no message
                        health.setReady(true, service: "")  // another service
                        health.setReady(false, service: service)
                    case 3: health.setReady(true)
                    default: health.beginDrain()
                    }
                }
            }
        }
        #expect(seen.withLock { $0 } == [.notServing, .serving, .notServing, .serving, .notServing])
        #expect(error?.code == .unavailable)
        #expect(health.watcherCount == 0)
    }

    @Test func `An unknown service is reported as unknown, and the call stays until the drain`() async throws {
        let health = HealthService(services: [service])
        let seen = Mutex<[Status]>([])
        let error = await #expect(throws: RPCError.self) {
            try await client(health).watch(.with { $0.service = "other" }) { reader in
                for try await response in reader {
                    seen.withLock { $0.append(response.status) }
                    health.setReady(true)
                    health.setReady(true, service: "other")
                    #expect(health.watcherCount == 1)
                    health.beginDrain()
                }
            }
        }
        #expect(seen.withLock { $0 } == [.serviceUnknown])
        #expect(error?.code == .unavailable)
    }

    @Test func `A watcher that arrives during the drain gets the status and is disconnected`() async throws {
        let health = HealthService(services: [service])
        health.setReady(true)
        health.beginDrain()
        let seen = Mutex<[Status]>([])
        await #expect(throws: RPCError.self) {
            try await client(health).watch(HealthV1.HealthCheckRequest()) { (reader) async throws -> Void in
                for try await response in reader { seen.withLock { $0.append(response.status) } }
            }
        }
        #expect(seen.withLock { $0 } == [.notServing])
    }

    @Test func `A watcher that disconnects is removed`() async throws {
        let health = HealthService(services: [service])
        try await client(health).watch(HealthV1.HealthCheckRequest()) { (reader) async throws -> Void in
            var responses = reader.makeAsyncIterator()
            #expect(try await responses.next()?.status == .notServing)
            #expect(health.watcherCount == 1)
        }
        try await eventually { health.watcherCount == 0 }
    }

    @Test func `More watchers than the maximum are refused`() async throws {
        let health = HealthService(services: [service])
        let client = client(health)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<HealthService.watchersMax {
                tasks.addTask {
                    try? await client.watch(HealthV1.HealthCheckRequest()) { (reader) async throws -> Void in
                        for try await _ in reader {}
                    }
                }
            }
            try await eventually { health.watcherCount == HealthService.watchersMax }
            let error = await #expect(throws: RPCError.self) {
                try await client.watch(HealthV1.HealthCheckRequest()) { reader in for try await _ in reader {} }
            }
            #expect(error?.code == .resourceExhausted)
            tasks.cancelAll()
        }
        try await eventually { health.watcherCount == 0 }
    }
}
