import RPC
import SwiftProtobuf
import Testing

@testable import RPCTransport

/// What a channel does so that it notices a server that is stuck, and does not annoy one that is well.
@Suite(.timeLimit(.minutes(5)))
struct KeepaliveTests {
    @Test func `The interval doubles up to a longest`() {
        var interval = KeepaliveInterval(.seconds(10))
        interval.double()
        #expect(interval.current == .seconds(20))
        for _ in 0..<100 { interval.double() }
        #expect(interval.current == KeepaliveInterval.longest)
        var never = KeepaliveInterval(.zero)
        never.double()
        #expect(never.current == .zero)
        var long = KeepaliveInterval(.seconds(100_000))
        long.double()
        #expect(long.current == .seconds(100_000))
    }

    @Test func `A server that is asked too often is asked less often`() async throws {
        let probe = EchoService.Probe()
        var server = ServerConfiguration()
        server.limits.pingIntervalMin = .milliseconds(150)
        server.limits.pingStrikesMax = 1
        try await Replicas.run(EchoService(probe: probe), server: server) { (replicas) async throws -> Void in
            var configuration = ChannelConfiguration()
            configuration.limits.keepaliveInterval = .milliseconds(50)
            configuration.backoffFirst = .milliseconds(5)
            let channel = try replicas.channel("127.0.0.1", configuration: configuration)
            // Each call is silent, so that pings are all that the server hears. At 50 and 100 ms it ends the connection
            // with "too_many_pings"; at 200 the call lives until its own deadline.
            var codes: [Status.Code?] = []
            for _ in 0..<3 {
                do {
                    _ = try await channel.unary(
                        EchoService.sleep,
                        EchoService.Text(),
                        response: EchoService.Text.self,
                        options: .init(timeout: .seconds(2), waitForReady: true)
                    )
                } catch {
                    codes.append((error as? RPCError)?.code)
                }
            }
            #expect(codes == [.unavailable, .unavailable, .deadlineExceeded])
        }
    }
}
