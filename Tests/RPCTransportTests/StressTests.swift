import Foundation
import RPC
import RPCTransport
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing

/// Calls of all kinds that are cancelled at any moment, from their loop and from elsewhere, while servers stop, channels
/// close and groups end: every one must return.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct StressTests {
    /// Calls of each caller. Under a sanitizer each takes a hundred times as long, and fewer are made.
    private static let calls = ProcessInfo.processInfo.environment["STRESS_CALLS"].flatMap { Int($0) } ?? 30

    @Test(arguments: [1, 2] as [UInt64])
    func `Every call returns, whatever happens to its server and its channel`(seed: UInt64) async throws {
        let world = try await World(seed: seed)
        let disorder = Task { await world.disorder() }
        let calls = Task { await world.call(callers: 16, calls: Self.calls) }
        try await eventually("a call hangs", within: .seconds(240)) { world.ended.value == 16 * Self.calls }
        await calls.value
        disorder.cancel()
        await disorder.value
        await world.end()
    }

    @Test(arguments: [3, 4] as [UInt64])
    func `Every call returns when the loops end under it`(seed: UInt64) async throws {
        let world = try await World(seed: seed)
        let calls = Task { await world.call(callers: 16, calls: Self.calls) }
        try await Task.sleep(for: .milliseconds(20 * Int(seed - 2)))
        if seed.isMultiple(of: 2) { await world.serverGroup.shutdown() }
        await world.clientGroup.shutdown()
        try await eventually("a call hangs", within: .seconds(240)) { world.ended.value == 16 * Self.calls }
        await calls.value
        await world.end()
    }
}

/// Servers, channels, and what is done to them.
private final class World: Sendable {
    let serverGroup: EventLoopGroup
    let clientGroup: EventLoopGroup
    let ended = Counter()
    private let seed: UInt64
    private let port: Int
    private let server: Mutex<RPCServer>
    private let channel: Mutex<RPCChannel>

    init(seed: UInt64) async throws {
        self.seed = seed
        serverGroup = try EventLoopGroup(loopCount: 2, name: "server")
        clientGroup = try EventLoopGroup(loopCount: 2, name: "client")
        let first = Self.server(serverGroup, port: 0)
        port = try await first.start()
        server = Mutex(first)
        channel = Mutex(try Self.channel(clientGroup, port))
    }

    private static func server(_ group: EventLoopGroup, port: Int) -> RPCServer {
        var router = Router()
        router.add(EchoService())
        var configuration = ServerConfiguration(port: port)
        configuration.limits.drainTimeout = .milliseconds(30)
        return RPCServer(group: group, router: router, configuration: configuration)
    }

    private static func channel(_ group: EventLoopGroup, _ port: Int) throws -> RPCChannel {
        var configuration = ChannelConfiguration()
        configuration.backoffFirst = .milliseconds(5)
        configuration.backoffMax = .milliseconds(20)
        return try RPCChannel(target: "127.0.0.1:\(port)", group: group, configuration: configuration)
    }

    func end() async {
        await channel.withLock { $0 }.close()
        await server.withLock { $0 }.shutdown()
        await clientGroup.shutdown()
        await serverGroup.shutdown()
    }

    // MARK: What goes wrong

    /// Stops servers and closes channels, until its task is cancelled.
    func disorder() async {
        var random = SplitMix(seed: seed)
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(Int.random(in: 5...40, using: &random)))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: await replaceServer(drains: false)
            case 1: await replaceServer(drains: true)
            case 2: await replaceChannel()?.close()
            default: _ = replaceChannel()  // let go, with the calls on it
            }
        }
    }

    private func replaceServer(drains: Bool) async {
        let former = server.withLock { $0 }
        if drains { await former.drain() }
        await former.shutdown()
        for _ in 0..<100 {
            let next = Self.server(serverGroup, port: port)
            guard (try? await next.start()) != nil else { continue }
            server.withLock { $0 = next }
            return
        }
    }

    private func replaceChannel() -> RPCChannel? {
        guard let next = try? Self.channel(clientGroup, port) else { return nil }
        return channel.withLock { channel in
            defer { channel = next }
            return channel
        }
    }

    // MARK: Calls

    /// Makes calls at once, each caller one after the other; every second caller on a loop of the channel's.
    func call(callers: Int, calls: Int) async {
        await withTaskGroup(of: Void.self) { tasks in
            for caller in 0..<callers {
                let loop = caller.isMultiple(of: 2) ? clientGroup.loops[caller / 2 % 2] : nil
                tasks.addTask { [self] in
                    var random = SplitMix(seed: seed &* 1000 &+ UInt64(caller))
                    for _ in 0..<calls { await callOnce(on: loop, &random) }
                }
            }
        }
    }

    private func callOnce(on loop: EventLoop?, _ random: inout SplitMix) async {
        let kind = Int.random(in: 0..<7, using: &random)
        var options: CallOptions
        // Whether the call is certain to end by itself.
        let isLimited = Bool.random(using: &random)
        if isLimited {
            options = CallOptions(timeout: .microseconds(Int.random(in: 0...60_000, using: &random)))
        } else {
            options = CallOptions(deadline: .never)
        }
        options.waitForReady = Bool.random(using: &random)
        let sent = options
        let cancelled = isLimited ? Int.random(in: 0..<4, using: &random) : Int.random(in: 1..<4, using: &random)
        let pause = Duration.microseconds(Int.random(in: 0...20_000, using: &random))
        let channel = channel.withLock { $0 }
        let task = Task<Void, Never>(executorPreference: loop) {
            if cancelled == 1 { withUnsafeCurrentTask { $0?.cancel() } }
            _ = try? await Self.make(kind, over: channel, sent)
        }
        switch cancelled {
        case 2:
            try? await Task.sleep(for: pause)
            task.cancel()
        case 3:
            try? await Task.sleep(for: pause)
            clientGroup.loops[0].execute { task.cancel() }
        default: break
        }
        await task.value
        ended.add()
    }

    private static func make(_ kind: Int, over channel: RPCChannel, _ options: CallOptions) async throws {
        typealias Bytes = EchoService.Bytes
        typealias Number = EchoService.Number
        let some = Bytes.with { $0.value = .init(repeating: 1, count: 9000) }
        switch kind {
        case 0: _ = try await channel.unary(EchoService.echo, some, response: Bytes.self, options: options)
        case 1:
            let text = EchoService.Text()
            _ = try await channel.unary(EchoService.sleep, text, response: EchoService.Text.self, options: options)
        case 2:
            let number = Number.with { $0.value = 200 }
            try await channel.serverStreaming(EchoService.count, number, response: Number.self, options: options) {
                for try await _ in $0 {}
            }
        case 3:
            try await channel.serverStreaming(EchoService.flood, Number(), response: Bytes.self, options: options) {
                for try await _ in $0 {}
            }
        case 4:
            _ = try await channel.clientStreaming(
                EchoService.sum,
                request: Number.self,
                response: Number.self,
                options: options
            ) { writer in
                for value in 0..<50 { try await writer.write(Number.with { $0.value = Int64(value) }) }
            }
        case 5:
            _ = try await channel.clientStreaming(
                EchoService.ignore,
                request: Bytes.self,
                response: Number.self,
                options: options
            ) { writer in
                while true { try await writer.write(some) }
            }
        default:
            try await channel.stream(EchoService.talk, request: Bytes.self, response: Bytes.self, options: options) {
                writer,
                reader in
                try await writer.write(some)
                for try await message in reader { try await writer.write(message) }
            }
        }
    }
}
