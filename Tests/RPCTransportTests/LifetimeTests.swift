import RPC
import Synchronization
import Testing

@testable import RPCTransport

/// What happens to whoever forgets to end things, or ends them in another order.
@Suite(.timeLimit(.minutes(1)))
struct LifetimeTests {
    @Test func aGroupThatIsLetGoStopsItsLoops() async throws {
        let loops: [EventLoop]
        do {
            let group = try EventLoopGroup(loopCount: 2, name: "forgotten")
            for loop in group.loops { try await loop.run {} }
            loops = group.loops
        }
        for loop in loops { await #expect(throws: TransportError.closed) { try await loop.run {} } }
    }
}
