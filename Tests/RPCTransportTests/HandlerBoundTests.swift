import FoundationEssentials
import RPC
import RPCTransport
import SwiftProtobuf
import TestWaits
import Testing

/// Handlers that go on although their call has ended, and what is held for calls.
@Suite(.timeLimit(.minutes(5))) struct HandlerBoundTests {
    /// A method whose handler ends when the test says so, whatever becomes of its call.
    private struct StubbornService: RPCService {
        static let wait = MethodDescriptor(service: "vestibule.test.v1.StubbornService", method: "Wait")
        static let collect = MethodDescriptor(
            service: "vestibule.test.v1.StubbornService",
            method: "Collect",
            kind: .clientStreaming
        )
        let gate: Gate

        func register(in router: inout Router) {
            router.unary(Self.wait) { [gate] (request: EchoService.Text, _) -> EchoService.Text in
                await gate.wait()
                return request
            }
            router.clientStreaming(Self.collect) {
                [gate] (requests: MessageReader<EchoService.Bytes>, _) -> EchoService.Number in
                await gate.wait()
                var number = EchoService.Number()
                for try await _ in requests { number.value += 1 }
                return number
            }
        }
    }

    /// Lets nobody through until it is opened, not even who is cancelled.
    private actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private(set) var startedCount = 0
        private(set) var endedCount = 0

        func wait() async {
            startedCount += 1
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            endedCount += 1
        }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    private func withServer(
        _ configuration: ServerConfiguration,
        _ body: (Gate, RPCChannel, EventLoopGroup) async throws -> Void
    ) async throws {
        let gate = Gate()
        let group = try EventLoopGroup(loopCount: 1, name: "server")
        let clients = try EventLoopGroup(loopCount: 1, name: "client")
        var router = Router()
        router.add(StubbornService(gate: gate))
        router.add(EchoService())
        let server = RPCServer(group: group, router: router, configuration: configuration)
        let port = try await server.start()
        let channel = try RPCChannel(target: "127.0.0.1:\(port)", group: clients)
        do { try await body(gate, channel, group) } catch { Issue.record(error) }
        await gate.open()
        await channel.close()
        await server.shutdown()
        try await eventually { group.loops[0].statistics.handlers == 0 }
        #expect(group.loops[0].statistics.heldBytes == 0)
        await clients.shutdown()
        await group.shutdown()
    }

    private func echo(_ channel: RPCChannel) async throws {
        _ = try await channel.unary(
            EchoService.echo,
            EchoService.Bytes(),
            response: EchoService.Bytes.self,
            options: .init()
        )
    }

    private func wait(_ channel: RPCChannel, _ timeout: Duration) async throws {
        _ = try await channel.unary(
            StubbornService.wait,
            EchoService.Text(),
            response: EchoService.Text.self,
            options: .init(timeout: timeout)
        )
    }

    @Test func `Handlers that outlive their calls are bounded`() async throws {
        var configuration = ServerConfiguration()
        configuration.limits.streamsMax = 2
        try await withServer(configuration) { (gate, channel, group) async throws -> Void in
            for _ in 0..<4 {
                let error = await #expect(throws: RPCError.self) { try await wait(channel, .milliseconds(200)) }
                #expect(error?.code == .deadlineExceeded)
            }
            #expect(await gate.startedCount == 4)
            #expect(group.loops[0].statistics.handlers == 4)
            let error = await #expect(throws: RPCError.self) { try await echo(channel) }
            #expect(error?.code == .resourceExhausted)
            #expect(group.loops[0].statistics.callsShed == 1)
            await gate.open()
            try await eventually { (try? await echo(channel)) != nil }
        }
    }

    @Test func `Handlers that outlive their calls are bounded on all connections`() async throws {
        var configuration = ServerConfiguration()
        configuration.callsMax = 2
        try await withServer(configuration) { (gate, channel, group) async throws -> Void in
            for _ in 0..<2 { _ = try? await wait(channel, .milliseconds(200)) }
            #expect(await gate.startedCount == 2)
            let error = await #expect(throws: RPCError.self) { try await echo(channel) }
            #expect(error?.code == .resourceExhausted)
            await gate.open()
            try await eventually { (try? await echo(channel)) != nil }
        }
    }

    @Test func `Calls that never become handlers are not counted`() async throws {
        try await withServer(ServerConfiguration()) { (_, channel, group) async throws -> Void in
            // A request that is no message, and a call that is cancelled before its message came.
            let method = MethodDescriptor(service: EchoService.name, method: "Fail")
            var invalid = EchoService.Bytes()
            invalid.value = .init([0xff, 0xff])  // no UTF-8, as a string would have to be
            let error = await #expect(throws: RPCError.self) {
                _ = try await channel.unary(method, invalid, response: EchoService.Text.self, options: .init())
            }
            #expect(error?.code == .internalError)
            for _ in 0..<50 { try await echo(channel) }
            #expect(group.loops[0].statistics.handlers == 0)
            try await eventually { group.loops[0].statistics.heldBytes == 0 }
        }
    }

    @Test func `Messages that a handler has not read are counted and let go`() async throws {
        try await withServer(ServerConfiguration()) { (gate, channel, group) async throws -> Void in
            let call = Task {
                try await channel.clientStreaming(
                    StubbornService.collect,
                    request: EchoService.Bytes.self,
                    response: EchoService.Number.self,
                    options: .init(timeout: .seconds(20))
                ) { (writer: RequestWriter<EchoService.Bytes>) in
                    for _ in 0..<100 { try await writer.write(EchoService.Bytes()) }
                    try await Task.sleep(for: .seconds(20))
                }
            }
            try await eventually { group.loops[0].statistics.heldBytes >= 100 * 96 }
            call.cancel()
            _ = try? await call.value
            // The handler is still at the gate; what it would have read is gone.
            try await eventually { group.loops[0].statistics.heldBytes == 0 }
            #expect(await gate.endedCount == 0)
            #expect(group.loops[0].statistics.handlers == 1)
        }
    }
}
