import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

struct KeySetCacheTests {
    /// A clock that the test turns.
    private final class Hand: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func turn(_ duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
    }

    private let stubs = StubServices()
    private let hand = Hand()

    private func cache() -> KeySetCache {
        KeySetCache(identity: IdentityServiceClient(stubs.channel), now: { [hand] in hand.now })
    }

    private func answer(_ json: String, maxAgeSeconds: Int64) {
        stubs.identity.set {
            $0.getJWKS = { _, _ in
                IdentityV1.GetJWKSResponse.with {
                    $0.jwksJson = json
                    $0.maxAgeSeconds = maxAgeSeconds
                }
            }
        }
    }

    @Test func `It asks once in a max-age`() async throws {
        let cache = cache()
        answer("a", maxAgeSeconds: 600)
        #expect(try await cache.answer(timeout: .seconds(1)) == .init(json: "a", issuer: "", maxAgeSeconds: 600))
        hand.turn(.seconds(200))
        #expect(try await cache.answer(timeout: .seconds(1)) == .init(json: "a", issuer: "", maxAgeSeconds: 400))
        #expect(stubs.calls == ["GetJWKS"])
        answer("b", maxAgeSeconds: 600)
        hand.turn(.seconds(400))
        #expect(try await cache.answer(timeout: .seconds(1)).json == "b")
        #expect(stubs.calls.count == 2)
    }

    @Test func `A stale set is served while identity is down`() async throws {
        let cache = cache()
        answer("a", maxAgeSeconds: 10)
        _ = try await cache.answer(timeout: .seconds(1))
        stubs.identity.set { $0.getJWKS = { _, _ in throw RPCError(.unavailable, "down") } }
        hand.turn(.seconds(11))
        #expect(try await cache.answer(timeout: .seconds(1)) == .init(json: "a", issuer: "", maxAgeSeconds: 1))
        _ = try await cache.answer(timeout: .seconds(1))
        #expect(stubs.calls.count == 2)
        answer("b", maxAgeSeconds: 10)
        hand.turn(.seconds(2))
        #expect(try await cache.answer(timeout: .seconds(1)).json == "b")
    }

    @Test func `Without any set the error shows`() async throws {
        stubs.identity.set { $0.getJWKS = { _, _ in throw RPCError(.unavailable, "down") } }
        let error = await #expect(throws: RPCError.self) { try await cache().answer(timeout: .seconds(1)) }
        #expect(error?.code == .unavailable)
    }

    @Test(arguments: [(Int64(0), Int64(1)), (-5, 1), (1_000_000, 3600)])
    func `An unreasonable max-age is bounded`(told: Int64, kept: Int64) async throws {
        answer("a", maxAgeSeconds: told)
        #expect(try await cache().answer(timeout: .seconds(1)).maxAgeSeconds == kept)
    }

    @Test func `Many who ask at once share one call`() async throws {
        stubs.identity.set {
            $0.getJWKS = { _, _ in
                try await Task.sleep(for: .milliseconds(50))
                return IdentityV1.GetJWKSResponse.with { $0.maxAgeSeconds = 60 }
            }
        }
        let cache = cache()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await cache.answer(timeout: .seconds(1)) } }
            try await group.waitForAll()
        }
        #expect(stubs.calls.count == 1)
    }
}
