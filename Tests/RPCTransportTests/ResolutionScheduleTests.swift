import Testing

@testable import RPCTransport

struct ResolutionScheduleTests {
    private static let second: UInt64 = 1_000_000_000
    /// The value in a box, since `#expect` takes no expression that changes one.
    private final class Schedule {
        private var value = ResolutionSchedule(intervalMin: .seconds(1), interval: .seconds(10))
        func ask(now: UInt64) -> ResolutionSchedule.Action { value.ask(now: now) }
        func arrived(now: UInt64) -> ResolutionSchedule.Action { value.arrived(now: now) }
        func finished(now: UInt64, isComplete: Bool) -> ResolutionSchedule.Action {
            value.finished(now: now, isComplete: isComplete)
        }
    }

    @Test func `The first to ask is served at once, and the others with it`() {
        let schedule = Schedule()
        #expect(schedule.ask(now: 5) == .resolve)
        #expect(schedule.ask(now: 6) == .nothing)
        #expect(schedule.finished(now: 7, isComplete: true) == .wait(until: 7 + 10 * Self.second))
    }

    @Test func `Failures do not hammer`() {
        let schedule = Schedule()
        _ = schedule.ask(now: 0)
        _ = schedule.finished(now: 0, isComplete: true)
        #expect(schedule.ask(now: 1) == .wait(until: Self.second))
        for now in 2..<100 { #expect(schedule.ask(now: UInt64(now)) == .nothing) }
        #expect(schedule.arrived(now: Self.second - 1) == .nothing)
        #expect(schedule.arrived(now: Self.second) == .resolve)
        #expect(schedule.arrived(now: Self.second) == .nothing)
        _ = schedule.finished(now: Self.second, isComplete: true)
        #expect(schedule.ask(now: 2 * Self.second) == .resolve, "the minimum has passed")
    }

    @Test func `Names are resolved again after the interval`() {
        let schedule = Schedule()
        _ = schedule.ask(now: 0)
        _ = schedule.finished(now: 0, isComplete: true)
        #expect(schedule.arrived(now: 10 * Self.second) == .resolve)
    }

    @Test func `A name without address is asked for again sooner, but less and less often`() {
        let schedule = Schedule()
        var now: UInt64 = 0
        _ = schedule.ask(now: now)
        for seconds: UInt64 in [1, 2, 4, 8, 10, 10] {
            #expect(schedule.finished(now: now, isComplete: false) == .wait(until: now + seconds * Self.second))
            now += seconds * Self.second
            #expect(schedule.arrived(now: now) == .resolve)
        }
        _ = schedule.finished(now: now, isComplete: true)
        _ = schedule.ask(now: now + Self.second)
        #expect(schedule.finished(now: now, isComplete: false) == .wait(until: now + Self.second))
    }
}
