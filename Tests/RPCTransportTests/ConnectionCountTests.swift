import RPC
import RPCTransport
import SwiftProtobuf
import TestWaits
import Testing

/// How many connections and waiting calls there are.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionCountTests {
    private static func server(streamsMax: Int) -> ServerConfiguration {
        var server = ServerConfiguration()
        server.limits.streamsMax = streamsMax
        return server
    }

    private func sleepers(_ channel: RPCChannel, _ count: Int) -> [Task<Void, any Error>] {
        (0..<count).map { _ in
            Task {
                _ = try await channel.unary(
                    EchoService.sleep,
                    EchoService.Text(),
                    response: EchoService.Text.self,
                    options: .init(timeout: .seconds(25))
                )
            }
        }
    }

    private func echo(_ channel: RPCChannel, _ options: CallOptions = .init(timeout: .seconds(10))) async throws {
        _ = try await channel.unary(
            EchoService.echo,
            EchoService.Bytes(),
            response: EchoService.Bytes.self,
            options: options
        )
    }

    @Test func `Another connection is opened past the peer's limit, up to a maximum`() async throws {
        let probe = EchoService.Probe()
        try await Replicas.run(EchoService(probe: probe), server: Self.server(streamsMax: 2)) {
            (replicas) async throws -> Void in
            var configuration = ChannelConfiguration()
            configuration.connectionsPerAddressMax = 3
            let channel = try replicas.channel("127.0.0.1", configuration: configuration)
            let tasks = sleepers(channel, 6)
            try await eventually("three connections with two calls each") { await probe.startedCount == 6 }
            let error = await #expect(throws: RPCError.self) {
                try await echo(channel, .init(timeout: .milliseconds(200)))
            }
            #expect(error?.code == .deadlineExceeded, "it waited, and its deadline held")
            let waiting = Task { try await echo(channel) }
            try await Task.sleep(for: .milliseconds(50))
            tasks[0].cancel()
            try await waiting.value
            for task in tasks { task.cancel() }
        }
    }

    @Test func `Past the maximum calls are shed`() async throws {
        let probe = EchoService.Probe()
        try await Replicas.run(EchoService(probe: probe), server: Self.server(streamsMax: 1)) {
            (replicas) async throws -> Void in
            var configuration = ChannelConfiguration()
            configuration.connectionsPerAddressMax = 1
            configuration.waitingCallsMax = 2
            let channel = try replicas.channel("127.0.0.1", configuration: configuration)
            let sleeper = sleepers(channel, 1)[0]
            try await eventually { await probe.startedCount == 1 }
            // On the loop itself each is in its place before the next one begins.
            let loop = replicas.group.loops[0]
            let waiting = (0..<2).map { _ in Task(executorPreference: loop) { try await echo(channel) } }
            let error = await #expect(throws: RPCError.self) { try await onLoop(loop) { try await echo(channel) } }
            #expect(error?.code == .resourceExhausted)
            sleeper.cancel()
            for task in waiting { try await task.value }
        }
    }

    @Test func `Calls that give up leave their place`() async throws {
        let probe = EchoService.Probe()
        try await Replicas.run(EchoService(probe: probe), server: Self.server(streamsMax: 1)) {
            (replicas) async throws -> Void in
            var configuration = ChannelConfiguration()
            configuration.connectionsPerAddressMax = 1
            configuration.waitingCallsMax = 100
            let channel = try replicas.channel("127.0.0.1", configuration: configuration)
            let sleeper = sleepers(channel, 1)[0]
            try await eventually { await probe.startedCount == 1 }
            for _ in 0..<5 {
                let waiting = (0..<100).map { _ in Task { try await echo(channel) } }
                try await Task.sleep(for: .milliseconds(20))
                for task in waiting { task.cancel() }
                for task in waiting { #expect(await (task.result.error as? RPCError)?.code == .cancelled) }
            }
            let last = Task { try await echo(channel) }
            try await Task.sleep(for: .milliseconds(20))
            sleeper.cancel()
            try await last.value
            #expect(await probe.startedCount == 1)
        }
    }

    @Test func `No loop waits to connect once the server answers another`() async throws {
        try await Replicas.run(loops: 2, EchoService()) { (replicas) async throws -> Void in
            await replicas.stop("127.0.0.1")
            var configuration = ChannelConfiguration()
            configuration.backoffFirst = .seconds(60)
            configuration.backoffMax = .seconds(60)
            let channel = try replicas.channel("127.0.0.1", configuration: configuration)
            let loops = replicas.group.loops
            let first = await #expect(throws: RPCError.self) { try await onLoop(loops[0]) { try await echo(channel) } }
            #expect(first?.code == .unavailable)
            try await replicas.start("127.0.0.1", EchoService())
            let still = await #expect(throws: RPCError.self) { try await onLoop(loops[0]) { try await echo(channel) } }
            #expect(still?.code == .unavailable, "it waits for a minute")
            try await onLoop(loops[1]) { try await echo(channel) }
            try await eventually { (try? await onLoop(loops[0]) { try await echo(channel) }) != nil }
        }
    }

    private func onLoop(_ loop: EventLoop, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await Task(executorPreference: loop) { try await body() }.value
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
