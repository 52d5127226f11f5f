import Synchronization

/// Notices that the process did not run for a while: it was stopped, or its machine was moved or slept, and calls that had
/// come in lay there meanwhile.
///
/// ``tick(nowMilliseconds:)`` is called each ``tickInterval`` by one task; what was missed shows in the ticks that are
/// missing. ``pauseMilliseconds(nowMilliseconds:)`` from any thread; never waits.
final class PauseWatch: Sendable {
    /// The time between two ticks.
    static let tickInterval: Duration = .seconds(1)
    private static let tickMilliseconds: Int64 = 1_000
    /// For how long a pause is told of after its end: calls that it held up are begun within this.
    static let toldMilliseconds: Int64 = 5_000

    private let tickedAt: Atomic<Int64>
    private let resumedAt: Atomic<Int64>
    private let pause = Atomic<Int64>(0)

    /// A watch that ticks from now on.
    init(nowMilliseconds now: Int64) {
        tickedAt = Atomic(now)
        resumedAt = Atomic(now)
    }

    /// The process runs now.
    func tick(nowMilliseconds now: Int64) {
        let missed = missed(now)
        tickedAt.store(now, ordering: .relaxed)
        guard missed > 0 else { return }
        resumedAt.store(now, ordering: .relaxed)
        pause.store(missed, ordering: .relaxed)
    }

    /// How long the pause was that has just ended, in milliseconds; 0 if there was none.
    func pauseMilliseconds(nowMilliseconds now: Int64) -> Int64 {
        // What came in during a pause may be begun before the tick that ends it.
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
