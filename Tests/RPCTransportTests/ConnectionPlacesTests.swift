import Glibc
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

    @Test func `A server has no more connections than its process may have files`() throws {
        var configuration = ServerConfiguration()
        configuration.connectionsMax = 1000
        configuration.connectionsPerAddressMax = 500
        let reserved = FileLimit.reserved(loopCount: 4)
        let roomy = try configuration.fitted(to: FileLimit(files: 1000 + reserved), loopCount: 4)
        #expect(roomy.connectionsMax == 1000 && roomy.connectionsPerAddressMax == 500)
        #expect(try configuration.fitted(to: FileLimit(files: nil), loopCount: 4).connectionsMax == 1000)
        let tight = try configuration.fitted(to: FileLimit(files: 400 + reserved), loopCount: 4)
        #expect(tight.connectionsMax == 400 && tight.connectionsPerAddressMax == 200)
        configuration.connectionsPerAddressMax = 0
        let unbounded = try configuration.fitted(to: FileLimit(files: 400 + reserved), loopCount: 4)
        #expect(unbounded.connectionsPerAddressMax == 0)
    }

    @Test func `Each event loop's lingering sockets are left their files`() throws {
        #expect(FileLimit.reserved(loopCount: 1) >= 256 + 64)
        #expect(FileLimit.reserved(loopCount: 16) - FileLimit.reserved(loopCount: 15) >= 64)
        #expect(try FileLimit(files: 2048).connections(of: 10_000, loopCount: 16) <= 2048 - 256 - 16 * 64)
    }

    @Test func `A process that may open too few files starts no server`() throws {
        let reserved = FileLimit.reserved(loopCount: 2)
        let least = reserved + FileLimit.connectionsMin
        #expect(try FileLimit(files: least).connections(of: 1000, loopCount: 2) == FileLimit.connectionsMin)
        let error = #expect(throws: TransportError.self) {
            try FileLimit(files: least - 1).connections(of: 1000, loopCount: 2)
        }
        #expect(error?.description.contains("ulimit -n") == true)
        #expect(error?.description.contains("\(least) is the least") == true)
        #expect(try FileLimit(files: reserved + 8).connections(of: 8, loopCount: 2) == 8)
        // A server that was configured for few starts with fewer than the usual least.
        #expect(try FileLimit(files: reserved + 44).connections(of: 50, loopCount: 2) == 44)
        #expect(throws: TransportError.self) { try FileLimit(files: reserved + 24).connections(of: 50, loopCount: 2) }
    }

    @Test func `The soft limit of open files is the hard one`() throws {
        let raised = FileLimit.ofProcess
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == limit.rlim_max)
        #expect(raised.files == nil || raised.files == Int(limit.rlim_cur))
    }

    @Test func `A server's connections are drained when they idle, and a client's are not`() {
        #expect(ServerConfiguration().limits.idleTimeout == .seconds(300))
        #expect(ChannelConfiguration().limits.idleTimeout == .zero)
    }
}
