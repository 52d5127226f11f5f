import API
import IdentityDomain
import JOSE
import RPC
import Testing

@testable import IdentityService

struct ProviderKeysTests {
    @Test func `Keys are fetched once for all`() async throws {
        try await TestService.run { service in
            let responses = try await gather(16) { try await service.signIn(subject: "person-\($0)") }
            #expect(responses.count == 16)
            #expect(service.provider.fetchCount == 1)
        }
    }

    @Test func `Rotated keys are found after the cooldown`() async throws {
        try await TestService.run { service in
            _ = try await service.signIn()
            try service.provider.rotateKeys()
            await expectFailure(.unauthenticated, "TOKEN_KEY_UNKNOWN") { _ = try await service.signIn(subject: "b") }
            #expect(service.provider.fetchCount == 1, "an unknown kid fetches nothing during the cooldown")
            service.clock.advance(seconds: 61)
            #expect(try await service.signIn(subject: "b").isNewUser)
            #expect(service.provider.fetchCount == 2)
        }
    }

    @Test func `Old keys serve while the provider is down`() async throws {
        try await TestService.run { service in
            _ = try await service.signIn(subject: "a")
            service.provider.setDown(true)
            service.clock.advance(seconds: 4 * 3600)
            #expect(try await service.signIn(subject: "b").isNewUser)
        }
    }

    @Test func `A provider that was never reached is unavailable and comes back`() async throws {
        try await TestService.run { service in
            service.provider.setDown(true)
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") { _ = try await service.signIn() }
            await expectFailure(.unavailable, "PROVIDER_UNAVAILABLE") { _ = try await service.signIn() }
            #expect(service.provider.fetchCount == 1, "the second one came within the delay")
            service.provider.setDown(false)
            service.clock.advance(seconds: 1)
            let response = try await service.signIn()
            #expect(response.isNewUser)
        }
    }

    @Test func `Waiters are let go when the service stops`() async throws {
        struct Stuck: KeyFetching {
            func fetchKeys(from url: String) async throws -> FetchedKeys {
                try await Task.sleep(for: .seconds(600))
                throw CancellationError()
            }
        }
        let clock = TestClock()
        let keys = ProviderKeys(
            try TestProvider.providers().map(\.policy),
            fetcher: Stuck(),
            clock: clock.wallClock,
            logger: TestService.silentLogger
        )
        let running = Task { await keys.run() }
        let waiting = Task { try await keys.key(id: "k", algorithm: .es256, of: .apple) }
        let cancelled = Task { try await keys.key(id: "k", algorithm: .es256, of: .apple) }
        try await Task.sleep(for: .milliseconds(50))
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        running.cancel()
        await running.value
        await #expect(throws: IdentityError.providerUnavailable) { _ = try await waiting.value }
        // The server drains after this: a sign-in that comes now must not wait for a fetch that nobody performs.
        clock.advance(seconds: 3_600)
        await #expect(throws: IdentityError.providerUnavailable) {
            _ = try await keys.key(id: "k", algorithm: .es256, of: .apple)
        }
    }
}
