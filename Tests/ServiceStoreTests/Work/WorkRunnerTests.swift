import Logging
import Postgres
import RPC
import ServiceKit
import Synchronization
import TestWaits
import Testing

@testable import ServiceStore

/// Work on a real database, with receivers that fail.
@Suite(.serialized) struct WorkRunnerTests {
    private struct Unreachable: Error {}
    private struct Cause: Error {}

    private static let setback = WorkSetback(reason: "BROKEN", cause: Cause())

    @Test func `Does everything in order, call after call`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add(Array(0..<10))
            let calls = Mutex<[[Int64]]>([])
            let runner = fixture.runner(together: 3) { numbers in calls.withLock { $0.append(numbers) } }
            #expect(await runner.round() == 10)
            #expect(calls.withLock { $0 } == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]])
            #expect(try await fixture.rows().isEmpty)
        }
    }

    @Test func `While the receiver is away nothing is lost, counted as a try or overtaken`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1, 2])
            let calls = Mutex<[[Int64]]>([])
            let isAway = Mutex(true)
            let runner = fixture.runner { numbers in
                calls.withLock { $0.append(numbers) }
                if isAway.withLock({ $0 }) { throw Unreachable() }
            }
            for _ in 0..<3 { #expect(await runner.round() == 0) }
            #expect(try await fixture.rows() == ["1 tries 0 due", "2 tries 0 due"])
            isAway.withLock { $0 = false }
            #expect(await runner.round() == 2)
            #expect(calls.withLock { $0 } == [[1, 2], [1, 2], [1, 2], [1, 2]])
        }
    }

    @Test func `A rejected item is parked and delays no other key`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add(Array(0..<5))
            try await fixture.add([11], key: "k1")
            let done = Mutex<[Int64]>([])
            let runner = fixture.runner { numbers in
                if numbers.contains(1) { throw WorkRejection(reason: "BAD") }
                done.withLock { $0 += numbers }
            }
            #expect(await runner.round() == 4)
            #expect(done.withLock { $0.sorted() } == [0, 2, 3, 4])
            #expect(try await fixture.rows() == ["1 tries 1 parked BAD", "11 tries 0 due"])
            let backlog = try await fixture.table.backlog(of: WorkFixture.queue)
            #expect(backlog == WorkBacklog(parkedCount: 2))
        }
    }

    @Test func `An item that the receiver fails on is retried alone after growing waits, and parked in the end`()
        async throws
    {
        try await WorkFixture.run { fixture in
            try await fixture.add(Array(0..<8))
            try await fixture.add([30], key: "k3")
            let tries = Mutex<[Int64]>([])
            let runner = fixture.runner(triesMax: 4) { numbers in
                guard numbers.contains(3) else { return }
                if numbers.count == 1 { tries.withLock { $0.append(fixture.now) } }
                throw Self.setback
            }
            #expect(await runner.round() == 7)
            #expect(try await fixture.rows() == ["3 tries 1 waits BROKEN", "30 tries 0 due"])
            for _ in 0..<600 {
                fixture.advance(milliseconds: 50)
                await runner.round()
            }
            #expect(try await fixture.rows() == ["3 tries 4 parked BROKEN 4 times", "30 tries 0 due"])
            let times = tries.withLock { $0 }
            let waits = zip(times.dropFirst(), times).map { $0 - $1 }
            #expect(waits.count == 3)
            // The bound doubles, and chance takes from it up to the half.
            for (wait, bound) in zip(waits, [1_000, 2_000, 4_000] as [Int64]) {
                #expect(bound / 2 <= wait && wait <= bound + 50, "\(waits)")
            }
        }
    }

    @Test func `A failure that isn't the item's fault is retried without end`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1])
            let runner = fixture.runner(triesMax: 2) { _ in
                throw WorkSetback(reason: "HELD", cause: Cause(), isItemAtFault: false)
            }
            for _ in 0..<30 {
                await runner.round()
                fixture.advance(milliseconds: 3_600_000)
            }
            #expect(try await fixture.rows() == ["1 tries 30 due HELD"])
        }
    }

    @Test func `An item of a process that died is done by another when its lease is over, and in order`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1, 2], key: "same")
            try await fixture.add([3], key: "other")
            let done = Mutex<[Int64]>([])
            let runner = fixture.runner { numbers in done.withLock { $0 += numbers } }
            let killed = try await fixture.table.claim(runner.kind, runner.kind.rules, limit: 1)
            #expect(killed.entries.map(\.item) == [1])
            #expect(await runner.round() == 0, "the queue is the other's for a while")
            fixture.advance(milliseconds: 15_000)
            #expect(await runner.round() == 3)
            #expect(done.withLock { $0.sorted() } == [1, 2, 3])
            // The first comes back from a long pause.
            try await fixture.add([4])
            let now = try await fixture.table.claim(runner.kind, runner.kind.rules, limit: 1)
            try await fixture.table.endTurn(in: WorkFixture.queue, leasedUntil: killed.leasedUntil)
            try await fixture.table.release(killed.entries.map(\.id), leasedUntil: killed.leasedUntil)
            #expect(await runner.round() == 0)
            try await fixture.table.release(now.entries.map(\.id), leasedUntil: now.leasedUntil)
            try await fixture.table.endTurn(in: WorkFixture.queue, leasedUntil: now.leasedUntil)
            #expect(await runner.round() == 1)
        }
    }

    @Test func `Replicas do each item once, in the order of its key`() async throws {
        try await WorkFixture.run { fixture in
            let done = Mutex<[Int64]>([])
            let tasks = (0..<3).map { _ in
                let runner = fixture.runner(together: 4) { numbers in done.withLock { $0 += numbers } }
                return Task { try await runner.run() }
            }
            for number in 0..<60 { try await fixture.add([Int64(number)], key: "k\(number % 7)") }
            try await eventually("all is done") { try await fixture.rows().isEmpty }
            for task in tasks { task.cancel() }
            for task in tasks { try await task.value }
            let all = done.withLock { $0 }
            #expect(all.sorted() == Array(0..<60))
            for key in 0..<7 as Range<Int64> {
                let own = all.filter { $0 % 7 == key }
                #expect(own == own.sorted())
            }
        }
    }

    @Test func `A cancelled call says nothing of its items, which are due again at once`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1])
            let isCalled = Mutex(false)
            let runner = fixture.runner { _ in
                isCalled.withLock { $0 = true }
                try await Task.sleep(for: .seconds(300))
            }
            let task = Task { try await runner.run() }
            try await eventually("it is called") { isCalled.withLock { $0 } }
            task.cancel()
            try await task.value
            #expect(try await fixture.rows() == ["1 tries 0 due"])
            #expect(await fixture.runner { _ in }.round() == 1, "another may do it")
        }
    }

    @Test func `However many items failed before, no more calls are under way than may be`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add(Array(0..<40))
            let fails = Mutex(true)
            let calls = Mutex((now: 0, most: 0))
            let runner = fixture.runner(atOnce: 3) { _ in
                if fails.withLock({ $0 }) { throw Self.setback }
                calls.withLock { calls in
                    calls.now += 1
                    calls.most = max(calls.most, calls.now)
                }
                try await Task.sleep(for: .milliseconds(2))
                calls.withLock { $0.now -= 1 }
            }
            await runner.round()
            #expect(try await fixture.rows().allSatisfy { $0.hasSuffix(" waits BROKEN") })
            fails.withLock { $0 = false }
            fixture.advance(milliseconds: 4_000)
            #expect(await runner.round() == 40)
            #expect(calls.withLock { $0.most } <= 3)
        }
    }

    @Test func `Behind a failure of an ordered queue the rest of a claim is left for the next`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1, 2, 3])
            let isAway = Mutex(false)
            let tries = Mutex<[[Int64]]>([])
            let runner = fixture.runner { numbers in
                tries.withLock { $0.append(numbers) }
                if isAway.withLock({ $0 }) { throw Unreachable() }
                throw Self.setback
            }
            await runner.round()
            #expect(
                try await fixture.rows() == [
                    "1 tries 1 waits BROKEN", "2 tries 1 waits BROKEN", "3 tries 1 waits BROKEN",
                ]
            )
            // Each would be tried alone.
            fixture.advance(milliseconds: 4_000)
            isAway.withLock { $0 = true }
            tries.withLock { $0 = [] }
            await runner.round()
            #expect(tries.withLock { $0.count } == 1)
            #expect(
                try await fixture.rows() == ["1 tries 1 due BROKEN", "2 tries 1 due BROKEN", "3 tries 1 due BROKEN"]
            )
        }
    }

    @Test func `A row that holds no item is parked`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1, -1, 2])
            let runner = fixture.runner { _ in }
            #expect(await runner.round() == 2)
            #expect(try await fixture.rows() == ["-1 tries 1 parked UNREADABLE"])
        }
    }

    @Test func `A nudge makes it prompt`() async throws {
        try await WorkFixture.run { fixture in
            let runner = fixture.runner { _ in }
            let task = Task { try await runner.run() }
            for number in 0..<3 as Range<Int64> {
                try await fixture.add([number])
                runner.nudge()
                try await eventually("it is done") { try await fixture.rows().isEmpty }
            }
            task.cancel()
            try await task.value
        }
    }

    @Test func `The metrics count what was done, failed and parked`() async throws {
        try await WorkFixture.run { fixture in
            try await fixture.add([1, 2, 3])
            let runner = fixture.runner(together: 1) { numbers in
                if numbers == [2] { throw WorkRejection(reason: "BAD") }
                if numbers == [3] { throw Self.setback }
            }
            await runner.round()
            let watching = Task { await runner.watch() }
            try await eventually("the backlog is read") { fixture.lines(of: runner).count == 6 }
            watching.cancel()
            await watching.value
            #expect(
                fixture.lines(of: runner) == [
                    "vestibule_work_waiting{queue=\"tests\"} 1", "vestibule_work_oldest_age_seconds{queue=\"tests\"} 0",
                    "vestibule_work_parked{queue=\"tests\"} 1", "vestibule_work_done_total{queue=\"tests\"} 1",
                    "vestibule_work_failures_total{queue=\"tests\"} 1",
                    "vestibule_work_parked_total{queue=\"tests\"} 1",
                ]
            )
        }
    }
}
