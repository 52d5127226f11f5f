import Testing

@testable import Load

struct ArrivalScheduleTests {
    @Test
    func `Each call has the exact nanosecond of its number, at rates that divide a second and at those that don't`() {
        let even = ArrivalSchedule(ratePerSecond: 1000, startNanoseconds: 5)
        #expect((0..<4).map(even.start(of:)) == [5, 1_000_005, 2_000_005, 3_000_005])
        let odd = ArrivalSchedule(ratePerSecond: 3, startNanoseconds: 0)
        #expect((0..<4).map(odd.start(of:)) == [0, 333_333_333, 666_666_666, 1_000_000_000])
    }

    @Test(arguments: [1, 7, 999, 48_611, ArrivalSchedule.rateMax])
    func `Doesn't drift in a day`(rate: Int) {
        let schedule = ArrivalSchedule(ratePerSecond: rate, startNanoseconds: 1_000)
        #expect(schedule.start(of: rate * 86_400) == 86_400 * 1_000_000_000 + 1_000)
    }

    @Test(arguments: [2, 3, 8])
    func `Shares together make the whole, each call once`(count: Int) {
        let whole = ArrivalSchedule(ratePerSecond: 700, startNanoseconds: 9)
        let parts = (0..<count).flatMap { share in
            let part = ArrivalSchedule(ratePerSecond: 700, startNanoseconds: 9, share: share, shareCount: count)
            return (0..<100).map(part.start(of:))
        }
        #expect(parts.sorted() == (0..<100 * count).map(whole.start(of:)))
    }
}

struct ArrivalQueueTests {
    private static let millisecond: UInt64 = 1_000_000

    private func queue(countMax: Int = 100, measureFrom: UInt64 = 0, end: UInt64 = 1000 * millisecond) -> ArrivalQueue {
        ArrivalQueue(
            schedule: ArrivalSchedule(ratePerSecond: 1000, startNanoseconds: 0),
            countMax: countMax,
            measureFromNanoseconds: measureFrom,
            endNanoseconds: end
        )
    }

    @Test
    func `Gives out a call when it is due and not before, with its intended start however late it is asked for`() {
        var queue = queue()
        #expect(queue.take(nowNanoseconds: 0) == 0)
        #expect(queue.take(nowNanoseconds: Self.millisecond - 1) == nil)
        #expect(queue.nextDueNanoseconds == Self.millisecond)
        #expect(queue.take(nowNanoseconds: 3 * Self.millisecond + 1) == Self.millisecond)
        #expect(queue.count == 2)
        #expect(queue.take(nowNanoseconds: 3 * Self.millisecond + 1) == 2 * Self.millisecond)
        #expect(queue.take(nowNanoseconds: 3 * Self.millisecond + 1) == 3 * Self.millisecond)
        #expect(queue.take(nowNanoseconds: 3 * Self.millisecond + 1) == nil)
    }

    @Test func `Keeps the oldest when it is full, and counts what it drops`() {
        var queue = queue(countMax: 3)
        #expect(queue.take(nowNanoseconds: 9 * Self.millisecond) == 0)
        #expect(queue.droppedCount == 7)
        #expect(queue.take(nowNanoseconds: 10 * Self.millisecond) == Self.millisecond)
        #expect(queue.take(nowNanoseconds: 10 * Self.millisecond) == 2 * Self.millisecond)
        #expect(queue.take(nowNanoseconds: 10 * Self.millisecond) == 10 * Self.millisecond)
        #expect(queue.droppedCount == 7)
    }

    @Test func `Calls dropped in the warm-up aren't counted`() {
        var queue = queue(countMax: 1, measureFrom: 5 * Self.millisecond)
        #expect(queue.take(nowNanoseconds: 9 * Self.millisecond) == 0)
        #expect(queue.droppedCount == 5)
    }

    @Test func `Nothing begins at the end or after it`() {
        var queue = queue(end: 2 * Self.millisecond)
        #expect(queue.take(nowNanoseconds: .max) == 0)
        #expect(queue.take(nowNanoseconds: .max) == Self.millisecond)
        #expect(queue.take(nowNanoseconds: .max) == nil)
        #expect(queue.nextDueNanoseconds == nil)
    }
}

struct ScenarioTests {
    @Test func `The mixed load has the shares that it tells`() {
        let counts = Dictionary(grouping: Scenario.mixed.round, by: \.self).mapValues(\.count)
        #expect(counts == [.checkSession: 12, .getProfile: 4, .updateProfile: 1, .refresh: 2, .signIn: 1])
    }

    @Test func `The share of sign-ins is rounded up`() {
        #expect(Scenario.mixed.signInCount(amongCalls: 41) == 3)
        #expect(Scenario.signIn.signInCount(amongCalls: 41) == 41)
        #expect(Scenario.refresh.signInCount(amongCalls: 41) == 0)
    }
}
