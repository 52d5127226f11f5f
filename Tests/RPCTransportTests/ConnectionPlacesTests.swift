import RPC
import Testing

@testable import RPCTransport

/// Places for connections on a server: who has no call makes room, and no address has all.
@Suite struct ConnectionPlacesTests {
    @Test func shareOfALoopIsNeverTooSmallForOneClient() {
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

    @Test func aServersConnectionsAreDrainedWhenTheyIdleAndAClientsAreNot() {
        #expect(ServerConfiguration().limits.idleTimeout == .seconds(300))
        #expect(ChannelConfiguration().limits.idleTimeout == .zero)
    }
}
