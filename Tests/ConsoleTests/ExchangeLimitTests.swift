import HTTPJSON
import HTTPTypes
import RPC
import ServiceKit
import Synchronization
import Testing

@testable import Console

/// How many sign-ins wait for the provider at once.
struct ExchangeLimitTests {
    private let limit = ExchangeLimit()

    private func client(_ address: String) -> ClientAddress { ClientAddress(PeerInfo(address: address)) }

    /// Runs an exchange of each address within those of the ones before, and then `body`.
    private func hold(_ addresses: [String], _ body: () async throws -> Void) async throws {
        guard let first = addresses.first else { return try await body() }
        try await limit.run(for: client(first)) { try await hold(Array(addresses.dropFirst()), body) }
    }

    private func refusal(_ address: String) async -> Problem? {
        do {
            try await limit.run(for: client(address)) {}
            return nil
        } catch {
            return error as? Problem
        }
    }

    @Test func `An address has two at once, and a site's IPv6 network too`() async throws {
        try await hold(["192.0.2.1:1", "192.0.2.1:2", "[2001:db8:1:1::1]:1", "[2001:db8:1:2::1]:1"]) {
            let refused = await refusal("192.0.2.1:3")
            #expect(refused?.status == .tooManyRequests && refused?.headers[.retryAfter] == "5")
            #expect(await refusal("[2001:db8:1:3::9]:7")?.status == .tooManyRequests)
            for other in ["192.0.2.2:1", "[2001:db8:2::1]:1"] { #expect(await refusal(other) == nil) }
        }
        for one in ["192.0.2.1:3", "[2001:db8:1:3::9]:7"] { #expect(await refusal(one) == nil) }
    }

    @Test func `All have eight at once, and one that fails is over`() async throws {
        try await hold((0..<8).map { "192.0.2.\($0 / 2):\($0)" }) {
            let refused = await refusal("192.0.2.9:1")
            #expect(refused?.status == .serviceUnavailable && refused?.headers[.retryAfter] == "5")
        }
        for _ in 0..<9 {
            await #expect(throws: CancellationError.self) {
                try await limit.run(for: client("192.0.2.1:1")) { throw CancellationError() }
            }
        }
    }
}
