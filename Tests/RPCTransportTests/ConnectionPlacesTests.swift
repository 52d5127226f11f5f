import RPC
import Testing

@testable import RPCTransport

/// Places for connections on a server: who has no call makes room, and no address has all.
struct ConnectionPlacesTests {
    @Test func `A loop's share is never too small for one client`() {
        var configuration = ServerConfiguration()
        #expect(configuration.connectionsPerAddressMax(loopCount: 1) == 5000)
        #expect(configuration.connectionsPerAddressMax(loopCount: 8) == 625)
        configuration.connectionsPerAddressMax = 16
        #expect(configuration.connectionsPerAddressMax(loopCount: 64) == 8)
        configuration.connectionsPerAddressMax = 3
        #expect(configuration.connectionsPerAddressMax(loopCount: 4) == 3)
        configuration.connectionsPerAddressMax = 0
        #expect(configuration.connectionsPerAddressMax(loopCount: 4) == 0)
    }

    @Test func `A server's connections are drained when they idle, and a client's are not`() {
        #expect(ServerConfiguration().limits.idleTimeout == .seconds(300))
        #expect(ChannelConfiguration().limits.idleTimeout == .zero)
    }
}
