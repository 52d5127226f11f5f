import Glibc
import RPC
import RPCTransport
import Synchronization
import TestWaits
import Testing

/// What is counted of calls, loops and connections.
@Suite(.timeLimit(.minutes(5)))
struct StatisticsTests {
    private final class Gate: Sendable {
        let isOpen = Atomic(false)
    }

    private func calls(_ calls: [CallStatistics], _ method: MethodDescriptor) -> CallStatistics? {
        calls.first { $0.method == method.path }
    }

    @Test func `Calls are counted by method and status on both sides`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            let before = calls(fixture.clientGroup.clientCalls, EchoService.echo)?.count ?? 0
            for _ in 0..<5 { #expect(try await fixture.echo([1]) == [1]) }
            await #expect(throws: RPCError.self) { try await fixture.text(EchoService.fail, "known") }
            let unknown = MethodDescriptor(service: EchoService.name, method: "NotThere")
            await #expect(throws: RPCError.self) { try await fixture.text(unknown, "x") }

            // The server counts a call when the last of it has gone out, which the client may see first.
            try await eventually {
                fixture.server.calls.map(\.count).reduce(0, +) == 7
            }
            let echoes = try #require(calls(fixture.server.calls, EchoService.echo))
            #expect(echoes.ended[Status.Code.ok.rawValue] == 5)
            #expect(echoes.took.counts.reduce(0, +) == 5)
            #expect(echoes.took.sumNanoseconds > 0 && echoes.took.sumNanoseconds < 60_000_000_000)
            let failures = try #require(calls(fixture.server.calls, EchoService.fail))
            #expect(failures.ended[Status.Code.alreadyExists.rawValue] == 1)
            let others = try #require(fixture.server.calls.last)
            #expect(others.method == "other")
            #expect(others.ended[Status.Code.unimplemented.rawValue] == 1)

            #expect(calls(fixture.clientGroup.clientCalls, EchoService.echo)?.count == before + 5)
            #expect(calls(fixture.clientGroup.clientCalls, unknown)?.ended[Status.Code.unimplemented.rawValue] == 1)
        }
    }

    @Test func `A call that is given up is cancelled on the server and past its deadline on the client`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            await #expect(throws: RPCError.self) {
                try await fixture.text(EchoService.sleep, "", options: .init(timeout: .milliseconds(50)))
            }
            try await eventually {
                guard let sleeps = calls(fixture.server.calls, EchoService.sleep) else { return false }
                // Whichever of the two clocks is the first: the server's own deadline, or the client's reset.
                return sleeps.ended[Status.Code.cancelled.rawValue]
                    + sleeps.ended[Status.Code.deadlineExceeded.rawValue]
                    == 1
            }
            let client = try #require(calls(fixture.clientGroup.clientCalls, EchoService.sleep))
            #expect(client.ended[Status.Code.deadlineExceeded.rawValue] == 1)
            #expect(client.took.sumNanoseconds >= 45_000_000)
        }
    }

    @Test func `Loops tell their connections, streams and bytes`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            #expect(try await fixture.echo([UInt8](repeating: 7, count: 10_000)).count == 10_000)
            let bytes: Range<UInt64> = 10_000..<12_000
            try await eventually {
                let server = fixture.serverGroup.loops[0].statistics, client = fixture.clientGroup.loops[0].statistics
                return server.serverConnections.current == 1 && client.clientConnections.current == 1
                    && server.serverStreams.opened == 1 && server.serverStreams.current == 0
                    && client.clientStreams.opened == 1 && client.clientStreams.current == 0
                    // Counted at the end of a turn: the answer may be read before its sending is.
                    && [server, client].allSatisfy { bytes ~= $0.receivedBytes && bytes ~= $0.sentBytes }
            }
            let server = fixture.serverGroup.loops[0].statistics, client = fixture.clientGroup.loops[0].statistics
            #expect(server.clientConnections.opened == 0 && client.serverConnections.opened == 0)
            for loop in [server, client] {
                #expect(loop.turns.counts.reduce(0, +) > 0 && loop.turns.sumNanoseconds > 0)
            }
        }
    }

    @Test func `A loop that is stuck tells for how long`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "stuck")
        let loop = group.loops[0]
        try await eventually("it waits") { loop.statistics.turnAgeNanoseconds == 0 }
        let gate = Gate()
        loop.execute { while !gate.isOpen.load(ordering: .relaxed) { usleep(1000) } }
        try await eventually { loop.statistics.turnAgeNanoseconds > 20_000_000 }
        gate.isOpen.store(true, ordering: .relaxed)
        try await eventually { loop.statistics.turnAgeNanoseconds == 0 }
        let long = zip(loop.statistics.turns.counts, TimeStatistics.boundsNanoseconds + [.max])
            .filter { $0.1 > 20_000_000 }.map(\.0).reduce(0, +)
        #expect(long == 1, "the turn is in the histogram")
        await group.shutdown()
    }

    @Test func `Calls past the maximum are counted as shed`() async throws {
        var server = ServerConfiguration()
        server.callsMax = 1
        let probe = EchoService.Probe()
        try await withFixture(probe: probe, server: server) { (fixture) async throws -> Void in
            let first = Task { try await fixture.text(EchoService.sleep, "", options: .init(timeout: .seconds(25))) }
            try await eventually { await probe.startedCount == 1 }
            let error = await #expect(throws: RPCError.self) { try await fixture.echo([1]) }
            #expect(error?.code == .resourceExhausted)
            #expect(fixture.serverGroup.loops[0].statistics.callsShed == 1)
            first.cancel()
        }
    }
}
