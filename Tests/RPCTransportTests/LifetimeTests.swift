import RPC
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing

@testable import RPCTransport

/// What happens if a program forgets to end things, or ends them in another order.
@Suite(.timeLimit(.minutes(5)))
struct LifetimeTests {
    private static func router(_ probe: EchoService.Probe? = nil) -> Router {
        var router = Router()
        router.add(EchoService(probe: probe))
        return router
    }

    private static func call(_ channel: any ClientChannel, _ method: MethodDescriptor = EchoService.echo) async throws {
        _ = try await channel.unary(
            method,
            EchoService.Text(),
            response: EchoService.Text.self,
            options: .init(timeout: .seconds(20), waitForReady: true)
        )
    }

    private static func stream(_ channel: RPCChannel) async throws {
        try await channel.stream(
            EchoService.talk,
            request: EchoService.Bytes.self,
            response: EchoService.Bytes.self,
            options: .init(timeout: .seconds(20), waitForReady: true)
        ) { writer, reader in
            try await writer.write(EchoService.Bytes())
            for try await _ in reader { try await writer.write(EchoService.Bytes()) }
        }
    }

    @Test func `A group that is released stops its loops`() async throws {
        let loops: [EventLoop]
        do {
            let group = try EventLoopGroup(loopCount: 2, name: "forgotten")
            for loop in group.loops { try await loop.run {} }
            loops = group.loops
        }
        for loop in loops {
            await loop.waitForEnd()
            await #expect(throws: TransportError.closed) { try await loop.run {} }
        }
    }

    @Test func `A group may be released on one of its loops`() async throws {
        let group = Mutex<EventLoopGroup?>(try EventLoopGroup(loopCount: 2, name: "own"))
        let loops = try #require(group.withLock { $0?.loops })
        await withCheckedContinuation { continuation in
            loops[0].execute {
                group.withLock { $0 = nil }
                continuation.resume()
            }
        }
        for loop in loops { await loop.waitForEnd() }
    }

    @Test func `A loop that has ended is freed`() async throws {
        weak var loop: EventLoop?
        weak var counter: Counter?
        do {
            let group = try EventLoopGroup(loopCount: 1, name: "freed")
            loop = group.loops[0]
            let kept = Counter()
            counter = kept
            try await group.loops[0].run { [loop = group.loops[0]] in
                _ = loop.schedule(after: .seconds(3600)) { kept.add() }
            }
            await group.shutdown()
            await withCheckedContinuation { continuation in
                group.loops[0].execute { [loop = group.loops[0]] in
                    loop.schedule(after: .zero) { kept.add() }
                    continuation.resume()
                }
            }
        }
        try await eventually { loop == nil && counter == nil }
    }

    @Test func `Tasks and posts continue after the end one at a time`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "late")
        let loop = group.loops[0]
        let (sleepy, begun) = (Counter(), Latch())
        let task = Task(executorPreference: loop) {
            begun.open()
            try? await Task.sleep(for: .milliseconds(200))
            loop.preconditionIsCurrent()
            for _ in 0..<10_000 { await Task.yield() }
            sleepy.add()
        }
        await begun.wait()
        await group.shutdown()
        await group.shutdown()  // nothing happens the second time
        let state = LoopBound(Counting(), loop: loop)
        await withTaskGroup(of: Void.self) { tasks in
            for _ in 0..<200 {
                tasks.addTask(executorPreference: loop) { state.value.count += 1 }
                tasks.addTask {
                    await withCheckedContinuation { continuation in
                        loop.execute {
                            state.value.count += 1
                            continuation.resume()
                        }
                    }
                }
            }
        }
        await withCheckedContinuation { continuation in
            loop.execute {
                #expect(state.value.count == 400)
                continuation.resume()
            }
        }
        await task.value
        #expect(sleepy.value == 1)
    }

    private final class Counting { var count = 0 }

    @Test func `Calls end at the shutdown and after it`() async throws {
        let probe = EchoService.Probe()
        let serverGroup = try EventLoopGroup(loopCount: 1, name: "server")
        let clientGroup = try EventLoopGroup(loopCount: 2, name: "client")
        let server = RPCServer(group: serverGroup, router: Self.router(probe), configuration: .init())
        let channel = try RPCChannel(target: "127.0.0.1:\(try await server.start())", group: clientGroup)
        try await Self.call(channel)
        let unary = Task { try await Self.call(channel, EchoService.sleep) }
        let stream = Task { try await Self.stream(channel) }
        try await eventually { await probe.startedCount == 1 }
        await clientGroup.shutdown()
        for task in [unary, stream] {
            let error = await #expect(throws: RPCError.self) { try await task.value }
            #expect([.unavailable, .cancelled].contains(error?.code))  // cancelled: what a write says
        }
        try await eventually { await probe.cancelledCount == 1 }
        for _ in 0..<2 {
            let error = await #expect(throws: RPCError.self) { try await Self.call(channel) }
            #expect(error?.code == .unavailable)
            await #expect(throws: RPCError.self) { try await Self.stream(channel) }
        }
        await channel.close()
        await serverGroup.shutdown()
        await server.drain()
        await server.shutdown()
        await #expect(throws: TransportError.closed) { try await server.start() }
    }

    @Test func `A server's group that is shut down cancels its handlers`() async throws {
        let probe = EchoService.Probe()
        let serverGroup = try EventLoopGroup(loopCount: 1, name: "server")
        let clientGroup = try EventLoopGroup(loopCount: 1, name: "client")
        let server = RPCServer(group: serverGroup, router: Self.router(probe), configuration: .init())
        let channel = try RPCChannel(target: "127.0.0.1:\(try await server.start())", group: clientGroup)
        let task = Task { try await Self.call(channel, EchoService.sleep) }
        try await eventually { await probe.startedCount == 1 }
        await serverGroup.shutdown()
        let error = await #expect(throws: RPCError.self) { try await task.value }
        #expect(error?.code == .unavailable)
        try await eventually { await probe.cancelledCount == 1 }
        let late = RPCServer(group: serverGroup, router: Self.router(), configuration: .init())
        await #expect(throws: TransportError.closed) { try await late.start() }
        await channel.close()
        await clientGroup.shutdown()
    }

    @Test func `A server that is released closes its port`() async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "gone")
        let port: Int
        do {
            let server = RPCServer(group: group, router: Self.router(), configuration: .init())
            port = try await server.start()
        }
        let next = RPCServer(group: group, router: Self.router(), configuration: .init(port: port))
        try await eventually("the port is free again") { (try? await next.start()) != nil }
        await next.shutdown()
        await group.shutdown()
    }

    @Test func `A channel that is released closes its connections`() async throws {
        try await withFixture { (fixture) async throws -> Void in
            do {
                let channel = try RPCChannel(target: "127.0.0.1:\(fixture.port)", group: fixture.clientGroup)
                try await Self.call(channel)
                #expect(fixture.clientGroup.loops[0].statistics.clientConnections.current == 1)
            }
            try await eventually { fixture.clientGroup.loops[0].statistics.clientConnections.current == 0 }
        }
    }

    @Test func `run() serves until the server is drained`() async throws {
        let probe = EchoService.Probe()
        let group = try EventLoopGroup(loopCount: 1, name: "run")
        let server = RPCServer(group: group, router: Self.router(probe), configuration: .init())
        let channel = try RPCChannel(target: "127.0.0.1:\(try await server.start())", group: group)
        let run = Task { try await server.run() }
        try await Self.call(channel)
        let begin = Deadline.now()
        await server.drain()
        #expect(
            Deadline.now().nanoseconds - begin.nanoseconds < 5_000_000_000,
            "it waits for calls, and there are none"
        )
        try await run.value
        await #expect(throws: TransportError.alreadyRun) { try await server.run() }
        await channel.close()
        await group.shutdown()
    }

    @Test func `run() ends with its group`() async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "run")
        let server = RPCServer(group: group, router: Self.router(EchoService.Probe()), configuration: .init())
        try await server.start()
        let run = Task { try await server.run() }
        await group.shutdown()
        try await run.value
    }

    @Test func `run() closes at once when its task is cancelled`() async throws {
        let probe = EchoService.Probe()
        let group = try EventLoopGroup(loopCount: 1, name: "run")
        let server = RPCServer(group: group, router: Self.router(probe), configuration: .init())
        let channel = try RPCChannel(target: "127.0.0.1:\(try await server.start())", group: group)
        let run = Task { try await server.run() }
        let call = Task { try await Self.call(channel, EchoService.sleep) }
        try await eventually { await probe.startedCount == 1 }
        run.cancel()
        try await run.value
        let error = await #expect(throws: RPCError.self) { try await call.value }
        #expect(error?.code == .unavailable)
        await channel.close()
        await group.shutdown()
    }

    @Test func `A streaming method cannot be called as a unary one in process`() async throws {
        for method in [EchoService.sum, EchoService.count, EchoService.talk] {
            let error = await #expect(throws: RPCError.self) {
                try await Self.call(InProcessChannel(Self.router()), method)
            }
            #expect(error?.code == .unimplemented)
        }
    }

    @Test func `A message buffer holds the given bytes`() {
        for count in [0, 1, 64, 5000] {
            do { _ = MessageBuffer([UInt8](repeating: 0x41, count: count)) }  // leaves its bytes behind
            let buffer = MessageBuffer(repeating: 3, count: count)
            #expect(buffer.withUnsafeBytes { $0.elementsEqual(repeatElement(3, count: count)) })
        }
    }
}
