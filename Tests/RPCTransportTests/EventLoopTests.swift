import Glibc
import RPC
import RPCTransport
import Synchronization
import TestWaits
import Testing

@Suite(.timeLimit(.minutes(5)))
struct EventLoopTests {
    @Test func `Timers fire in order, and cancelled ones do not`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let loop = group.loops[0]
        let fired = Mutex<[Int]>([])
        try await loop.run {
            for delay in [30, 10, 20, 40] {
                loop.schedule(after: .milliseconds(delay)) { fired.withLock { $0.append(delay) } }
            }
            loop.schedule(after: .milliseconds(15)) { fired.withLock { $0.append(15) } }.cancel()
        }
        try await eventually { fired.withLock { $0.count } == 4 }
        #expect(fired.withLock { $0 } == [10, 20, 30, 40])
        await group.shutdown()
    }

    @Test func `Many timers fire in order whatever is cancelled`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let loop = group.loops[0]
        let fired = Mutex<[Int]>([])
        var random = SplitMix(seed: 7)
        let delays = (0..<500).map { _ in Int.random(in: 0...50, using: &random) }
        let kept = try await loop.run {
            let timers = delays.map { delay in
                loop.schedule(after: .milliseconds(delay)) { fired.withLock { $0.append(delay) } }
            }
            var kept: [Int] = []
            for (index, timer) in timers.enumerated() {
                if index % 3 == 0 { timer.cancel() } else { kept.append(delays[index]) }
            }
            return kept
        }
        try await eventually { fired.withLock { $0.count } == kept.count }
        #expect(fired.withLock { $0 } == kept.sorted())
        await group.shutdown()
    }

    @Test func `Hooks run once a turn, however often requested`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let loop = group.loops[0]
        let count = Mutex(0)
        let hook = try await loop.run {
            LoopBound(Optional(loop.makeTurnHook { count.withLock { $0 += 1 } }), loop: loop)
        }
        try await loop.run {
            hook.value?.request()
            hook.value?.request()
        }
        try await eventually { count.withLock { $0 } == 1 }
        try await loop.run { hook.value = nil }
        await group.shutdown()
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `Watches report readable files until they are cancelled`() async throws {
        let group = try EventLoopGroup(loopCount: 1, name: "test")
        let loop = group.loops[0]
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let reads = Mutex(0)
        let watch = try await loop.run {
            let watch = try loop.watch(fileDescriptor: readEnd, interest: .readable) { ready in
                var byte: UInt8 = 0
                if ready.contains(.readable), read(readEnd, &byte, 1) == 1 { reads.withLock { $0 += 1 } }
            }
            return LoopBound(watch, loop: loop)
        }
        var byte: UInt8 = 1
        #expect(write(writeEnd, &byte, 1) == 1)
        try await eventually { reads.withLock { $0 } == 1 }
        try await loop.run { watch.value.cancel() }
        #expect(write(writeEnd, &byte, 1) == 1)
        try await Task.sleep(for: .milliseconds(50))
        #expect(reads.withLock { $0 } == 1)
        close(readEnd)
        close(writeEnd)
        await group.shutdown()
    }

    @Test func `Posts from many threads all run`() async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        let count = Counter()
        await withTaskGroup(of: Void.self) { tasks in
            for index in 0..<64 {
                tasks.addTask {
                    for _ in 0..<500 { group.loops[index % 2].execute { count.add() } }
                }
            }
        }
        try await eventually { count.value == 32_000 }
        await group.shutdown()
    }

    @Test func `Tasks with the loop's preference return to it`() async throws {
        let group = try EventLoopGroup(loopCount: 2, name: "test")
        for loop in group.loops {
            let indices = await Task(executorPreference: loop) {
                var indices = [EventLoop.current?.index]
                try? await Task.sleep(for: .milliseconds(5))
                indices.append(EventLoop.current?.index)
                await withTaskGroup(of: Int?.self) { children in
                    for _ in 0..<4 { children.addTask { EventLoop.current?.index } }
                    for await index in children { indices.append(index) }
                }
                return indices
            }.value
            #expect(indices == [Int?](repeating: loop.index, count: 6))
        }
        await group.shutdown()
    }
}

/// A small generator that a seed repeats.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// A number that many threads count up.
final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}

/// Something that is so until it is not.
final class Flag: Sendable {
    private let flag = Atomic(true)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func clear() { flag.store(false, ordering: .relaxed) }
}
