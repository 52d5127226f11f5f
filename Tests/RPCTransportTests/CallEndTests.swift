import RPC
import RPCTransport
import SwiftProtobuf
import TestWaits
import Testing

/// How calls end when the handler does not end them.
@Suite(.timeLimit(.minutes(5)))
struct CallEndTests {
    @Test func `The deadline ends a call and cancels its handler`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await fixture.text(EchoService.sleep, "x", options: .init(timeout: .milliseconds(100)))
            }
            #expect(error?.code == .deadlineExceeded)
            try await eventually { await probe.cancelledCount == 1 }
        }
    }

    @Test func `A call whose deadline has passed sends nothing`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            let error = await #expect(throws: RPCError.self) {
                try await fixture.text(EchoService.sleep, "x", options: .init(timeout: .zero))
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(try await fixture.echo([1]) == [1])
            #expect(await probe.startedCount == 0)
        }
    }

    @Test func `A call without a deadline tells the server of none`() async throws {
        let echo = CallOptions(deadline: .never)
        try await withFixture { (fixture) async throws -> Void in
            #expect(try await fixture.text(EchoService.deadline, "", options: echo) == "none")
            #expect(try await fixture.text(EchoService.deadline, "") == "some", "the default")
        }
        var client = ChannelConfiguration()
        client.defaultTimeout = nil
        try await withFixture(client: client) { (fixture) async throws -> Void in
            #expect(try await fixture.text(EchoService.deadline, "") == "none")
            #expect(try await fixture.text(EchoService.deadline, "", options: .init(timeout: .seconds(9))) == "some")
        }
        var router = Router()
        router.add(EchoService())
        let answer = try await InProcessChannel(router).unary(
            EchoService.deadline,
            EchoService.Text(),
            response: EchoService.Text.self,
            options: echo
        )
        #expect(answer.value == "none")
    }

    @Test func `A call without a deadline waits for a server`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let channel = try RPCChannel(target: "127.0.0.1:1", group: group)
        let task = Task {
            try await channel.unary(
                EchoService.echo,
                EchoService.Bytes(),
                response: EchoService.Bytes.self,
                options: .init(deadline: .never, waitForReady: true)
            )
        }
        try await Task.sleep(for: .milliseconds(300))
        task.cancel()
        let error = await #expect(throws: RPCError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        await channel.close()
        await group.shutdown()
    }

    @Test func `Cancelling the task cancels the handler`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            let task = Task { try await fixture.text(EchoService.sleep, "x") }
            try await eventually { await probe.startedCount == 1 }
            task.cancel()
            let result = await task.result
            #expect(throws: RPCError.self) { try result.get() }
            try await eventually { await probe.cancelledCount == 1 }
            #expect(try await fixture.echo([1]) == [1], "the connection is still good")
        }
    }

    @Test func `Losing the server ends calls and the channel comes back`() async throws {
        let probe = EchoService.Probe()
        try await withFixture(probe: probe) { (fixture) async throws -> Void in
            let task = Task { try await fixture.text(EchoService.sleep, "x") }
            try await eventually { await probe.startedCount == 1 }
            await fixture.server.shutdown()
            let error = await #expect(throws: RPCError.self) { try await task.value }
            #expect(error?.code == .unavailable)
            try await eventually { await probe.cancelledCount == 1 }

            var router = Router()
            router.add(EchoService())
            let second = RPCServer(
                group: fixture.serverGroup,
                router: router,
                configuration: .init(port: fixture.port)
            )
            try await second.start()
            let answer = try await fixture.echo([7], options: .init(timeout: .seconds(10), waitForReady: true))
            #expect(answer == [7])
            await second.shutdown()
        }
    }

    @Test func `Without a server a call fails soon unless it waits`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        // Nobody listens on port 1 (tcpmux), and only root could.
        let channel = try RPCChannel(target: "127.0.0.1:1", group: group)
        func call(_ options: CallOptions) async throws {
            var request = EchoService.Text()
            request.value = "x"
            _ = try await channel.unary(
                EchoService.sleep,
                request,
                response: EchoService.Text.self,
                options: options
            )
        }
        let soon = await #expect(throws: RPCError.self) { try await call(.init(timeout: .seconds(20))) }
        #expect(soon?.code == .unavailable)
        let late = await #expect(throws: RPCError.self) {
            try await call(.init(timeout: .milliseconds(300), waitForReady: true))
        }
        #expect(late?.code == .deadlineExceeded)
        await channel.close()
        await group.shutdown()
    }

    @Test func `Drain lets calls finish and refuses new connections`() async throws {
        let probe = EchoService.Probe()
        var configuration = ServerConfiguration()
        configuration.limits.drainTimeout = .seconds(1)
        try await withFixture(probe: probe, server: configuration) { (fixture) async throws -> Void in
            #expect(try await fixture.echo([1]) == [1])
            let task = Task { try await fixture.text(EchoService.sleep, "x") }
            try await eventually { await probe.startedCount == 1 }
            let begin = Deadline.now()
            await fixture.server.drain()
            let waited = Deadline.now().nanoseconds - begin.nanoseconds
            #expect(waited > 800_000_000, "it waited for the sleeping call")
            let error = await #expect(throws: RPCError.self) { try await task.value }
            #expect(error?.code == .unavailable)
        }
    }

    @Test func `Calls past the cap are shed`() async throws {
        let probe = EchoService.Probe()
        var configuration = ServerConfiguration()
        configuration.callsMax = 2
        try await withFixture(probe: probe, server: configuration) { (fixture) async throws -> Void in
            let tasks = (0..<2).map { _ in Task { try await fixture.text(EchoService.sleep, "x") } }
            try await eventually { await probe.startedCount == 2 }
            let error = await #expect(throws: RPCError.self) { try await fixture.echo([1]) }
            #expect(error?.code == .resourceExhausted)
            for task in tasks { task.cancel() }
            try await eventually { (try? await fixture.echo([1])) == [1] }
        }
    }
}
