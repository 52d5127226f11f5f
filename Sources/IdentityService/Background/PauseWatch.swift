import Synchronization

/// Notices that the process did not run for a while: it was stopped, or its machine was moved or slept, and incoming calls waited
/// meanwhile.
///
/// ``tick(nowMilliseconds:)`` is called each ``tickInterval`` by one task; a pause shows in missing ticks.
/// ``pauseMilliseconds(nowMilliseconds:)`` from any thread; never waits.
final class PauseWatch: Sendable {
    /// The time between two ticks.
    static let tickInterval: Duration = .seconds(1)
    private static let tickMilliseconds: Int64 = 1_000
    /// How long a pause is reported after its end: the calls that it delayed begin within this time.
    static let toldMilliseconds: Int64 = 5_000

    private let tickedAt: Atomic<Int64>
    private let resumedAt: Atomic<Int64>
    private let pause = Atomic<Int64>(0)

    /// A watch whose first tick is now.
    init(nowMilliseconds now: Int64) {
        tickedAt = Atomic(now)
        resumedAt = Atomic(now)
    }

    /// Records that the process runs now.
    func tick(nowMilliseconds now: Int64) {
        let missed = missed(now)
        tickedAt.store(now, ordering: .relaxed)
        guard missed > 0 else { return }
        resumedAt.store(now, ordering: .relaxed)
        pause.store(missed, ordering: .relaxed)
    }

    /// The length of a pause that has just ended, in milliseconds; 0 if there was none.
    func pauseMilliseconds(nowMilliseconds now: Int64) -> Int64 {
        // A call that came in during a pause may begin before the tick that ends the pause.
        let missed = missed(now)
        if missed > 0 { return missed }
        let sinceResumed = now - resumedAt.load(ordering: .relaxed)
        return sinceResumed < Self.toldMilliseconds ? pause.load(ordering: .relaxed) : 0
    }

    /// A tick may come one interval late on a busy machine.
    private func missed(_ now: Int64) -> Int64 {
        let missed = now - tickedAt.load(ordering: .relaxed) - Self.tickMilliseconds
        return missed > Self.tickMilliseconds ? missed : 0
    }
}
