import RPC
import RPCTransport
import Synchronization
import TestWaits
import Testing

/// Several addresses, over real sockets: replicas start and stop.
@Suite(.timeLimit(.minutes(5)))
struct ReplicaTests {
    /// Resolves one name as a test sets it, and counts the lookups.
    private final class TestResolver: NameResolver {
        private let state: Mutex<(addresses: [String], count: Int)>
        private let delay: Duration
        init(_ addresses: [String], delay: Duration = .zero) {
            state = Mutex((addresses, 0))
            self.delay = delay
        }
        var count: Int { state.withLock { $0.count } }
        func answer(_ addresses: [String]) { state.withLock { $0.addresses = addresses } }
        func addresses(of host: String) async -> [String] {
            try? await Task.sleep(for: delay)
            return state.withLock { state in
                state.count += 1
                return state.addresses
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    private static func configuration(_ resolver: TestResolver? = nil) -> ChannelConfiguration {
        var configuration = ChannelConfiguration()
        configuration.backoffFirst = .milliseconds(20)
        configuration.backoffMax = .milliseconds(100)
        if let resolver { configuration.resolver = resolver }
        configuration.resolutionIntervalMin = .milliseconds(20)
        configuration.resolutionInterval = .milliseconds(200)
        return configuration
    }

    /// How many of a number of sequential calls each replica answered.
    private func answers(_ channel: RPCChannel, _ count: Int) async throws -> [String: Int] {
        var answers: [String: Int] = [:]
        for _ in 0..<count {
            answers[try await channel.scripted(ScriptedService.idempotent), default: 0] += 1
        }
        return answers
    }

    private func withThree(
        loops: Int = 1,
        _ body: (Replicas) async throws -> Void
    ) async throws {
        try await Replicas.run(loops: loops, ScriptedService(answer: "1")) { (replicas) async throws -> Void in
            try await replicas.start("127.0.0.2", ScriptedService(answer: "2"))
            try await replicas.start("127.0.0.3", ScriptedService(answer: "3"))
            try await body(replicas)
        }
    }

    @Test func `Calls are spread evenly`() async throws {
        try await withThree { (replicas) async throws -> Void in
            let channel = try replicas.channel(
                "127.0.0.1",
                "127.0.0.2",
                "127.0.0.3",
                configuration: Self.configuration()
            )
            try await eventually { (try? await answers(channel, 3).count) == 3 }
            #expect(try await answers(channel, 30) == ["1": 10, "2": 10, "3": 10])
        }
    }

    @Test func `A replica that stops causes no failed call`() async throws {
        try await withThree(loops: 2) { (replicas) async throws -> Void in
            let channel = try replicas.channel(
                "127.0.0.1",
                "127.0.0.2",
                "127.0.0.3",
                configuration: Self.configuration()
            )
            try await eventually { (try? await answers(channel, 6).count) == 3 }
            let isOver = Flag()
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var count = 0
                        while !isOver.isSet {
                            _ = try await channel.scripted(ScriptedService.idempotent)
                            count += 1
                        }
                        return count
                    }
                }
                try await Task.sleep(for: .milliseconds(100))
                await replicas.stop("127.0.0.2")
                let end = Deadline.after(.seconds(3))
                while !end.hasPassed, try await answers(channel, 20)["2"] != nil {}
                #expect(try await answers(channel, 20).keys.sorted() == ["1", "3"])
                isOver.set()
                return try await group.reduce(0, +)  // throws if one call failed
            }
            #expect(counts > 100)
        }
    }

    /// The only replica is replaced, and its name takes a while to look up: meanwhile calls wait instead of failing.
    @Test func `Calls wait for the replacement of a lost address`() async throws {
        try await Replicas.run(ScriptedService(answer: "1")) { (replicas) async throws -> Void in
            try await replicas.start("127.0.0.2", ScriptedService(answer: "2"))
            let resolver = TestResolver(["127.0.0.1"], delay: .milliseconds(300))
            var configuration = Self.configuration(resolver)
            configuration.resolutionInterval = .seconds(60)
            configuration.retry.attemptsMax = 1
            let channel = try replicas.channel("replicas.test", configuration: configuration)
            #expect(try await channel.scripted(ScriptedService.once) == "1")
            resolver.answer(["127.0.0.2"])
            await replicas.stop("127.0.0.1")
            // A call on a connection whose end hasn't arrived yet would fail, and isn't one that is tried again.
            try await eventually { replicas.group.loops.contains { $0.statistics.clientConnections.closed > 0 } }
            for _ in 0..<20 {
                #expect(try await channel.scripted(ScriptedService.once) == "2")
            }
        }
    }

    @Test func `A drained replica fails no call at all`() async throws {
        try await withThree(loops: 2) { (replicas) async throws -> Void in
            let channel = try replicas.channel(
                "127.0.0.1",
                "127.0.0.2",
                configuration: Self.configuration()
            )
            try await eventually { (try? await answers(channel, 6).count) == 2 }
            let isOver = Flag()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        while !isOver.isSet { _ = try await channel.scripted(ScriptedService.once) }
                    }
                }
                try await Task.sleep(for: .milliseconds(50))
                await replicas.drain("127.0.0.2")
                await replicas.stop("127.0.0.2")
                isOver.set()
                try await group.waitForAll()
            }
            #expect(try await answers(channel, 20) == ["1": 20])
        }
    }

    @Test func `A replica that restarts gets calls again`() async throws {
        try await withThree { (replicas) async throws -> Void in
            let channel = try replicas.channel(
                "127.0.0.1",
                "127.0.0.2",
                configuration: Self.configuration()
            )
            try await eventually { (try? await answers(channel, 4).count) == 2 }
            await replicas.stop("127.0.0.2")
            try await eventually { (try? await answers(channel, 4)) == ["1": 4] }
            try await replicas.start("127.0.0.2", ScriptedService(answer: "2 again"))
            try await eventually { (try? await answers(channel, 4)["2 again"]) == 2 }
        }
    }

    @Test func `A name stands for all its addresses, which may change`() async throws {
        try await withThree(loops: 2) { (replicas) async throws -> Void in
            let resolver = TestResolver(["127.0.0.1", "127.0.0.2"])
            let channel = try replicas.channel(
                target: "replicas.test:\(replicas.port)",
                configuration: Self.configuration(resolver)
            )
            try await eventually { (try? await answers(channel, 8).keys.sorted()) == ["1", "2"] }
            resolver.answer(["127.0.0.3", "127.0.0.2"])
            try await eventually { (try? await answers(channel, 8).keys.sorted()) == ["2", "3"] }
            resolver.answer([])
            let asked = resolver.count
            try await eventually { resolver.count >= asked + 2 }
            #expect(try await answers(channel, 8).keys.sorted() == ["2", "3"], "what was known stays")
        }
    }

    @Test func `A lost connection causes lookups, but not without end`() async throws {
        try await withThree { (replicas) async throws -> Void in
            let resolver = TestResolver(["127.0.0.1"])
            var configuration = Self.configuration(resolver)
            configuration.resolutionIntervalMin = .milliseconds(300)
            configuration.resolutionInterval = .seconds(600)
            let channel = try replicas.channel(target: "name.test:\(replicas.port)", configuration: configuration)
            #expect(try await answers(channel, 1) == ["1": 1])
            #expect(resolver.count == 1)
            resolver.answer(["127.0.0.3"])
            let begin = Deadline.now()
            await replicas.stop("127.0.0.1")
            let options = CallOptions(timeout: .seconds(20), waitForReady: true)
            #expect(try await channel.scripted(ScriptedService.idempotent, options: options) == "3")
            let passed = Deadline.now().nanoseconds - begin.nanoseconds
            #expect(UInt64(resolver.count) <= 2 + passed / 300_000_000)
        }
    }

    @Test func `A name without address fails calls that do not wait`() async throws {
        try await withThree { (replicas) async throws -> Void in
            let resolver = TestResolver([])
            let channel = try replicas.channel(
                target: "nothing.test:\(replicas.port)",
                configuration: Self.configuration(resolver)
            )
            let error = await #expect(throws: RPCError.self) { try await answers(channel, 1) }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("nothing.test") == true)
            let waiting = Task {
                try await channel.scripted(
                    ScriptedService.idempotent,
                    options: .init(timeout: .seconds(20), waitForReady: true)
                )
            }
            resolver.answer(["127.0.0.2"])
            #expect(try await waiting.value == "2")
        }
    }

    @Test func `A name is resolved by the system`() async throws {
        try await withThree { (replicas) async throws -> Void in
            let channel = try replicas.channel(
                target: "localhost:\(replicas.port)",
                configuration: Self.configuration()
            )
            #expect(try await answers(channel, 2) == ["1": 2])
        }
    }
}
