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
        let roomy = try configuration.fitted(to: FileLimit(files: 1000 + FileLimit.reserved))
        #expect(roomy.connectionsMax == 1000 && roomy.connectionsPerAddressMax == 500)
        #expect(try configuration.fitted(to: FileLimit(files: nil)).connectionsMax == 1000)
        let tight = try configuration.fitted(to: FileLimit(files: 400 + FileLimit.reserved))
        #expect(tight.connectionsMax == 400 && tight.connectionsPerAddressMax == 200)
        configuration.connectionsPerAddressMax = 0
        #expect(try configuration.fitted(to: FileLimit(files: 400 + FileLimit.reserved)).connectionsPerAddressMax == 0)
    }

    @Test func `A process that may open too few files starts no server`() throws {
        let least = FileLimit.reserved + FileLimit.connectionsMin
        #expect(try FileLimit(files: least).connections(of: 1000) == FileLimit.connectionsMin)
        let error = #expect(throws: TransportError.self) { try FileLimit(files: least - 1).connections(of: 1000) }
        #expect(error?.description.contains("ulimit -n") == true)
        #expect(try FileLimit(files: FileLimit.reserved + 8).connections(of: 8) == 8)
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
