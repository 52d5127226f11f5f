import RPC

/// When names are resolved: as soon as someone asks, but never sooner than a minimum after the last answer, and again
/// after an interval. A pure value; times are nanoseconds of the loop's clock.
///
/// States: resting (perhaps until a time) → resolving → resting ….
struct ResolutionSchedule: Sendable {
    private let intervalMin: UInt64
    private let interval: UInt64
    private var isResolving = false
    private var finishedAt: UInt64?
    /// The wait after the next answer in which a name has no address: doubled each time, up to the interval.
    private var incompleteWait: UInt64
    /// When the next resolution begins by itself.
    private(set) var dueAt: UInt64?

    /// What to do now.
    enum Action: Sendable, Hashable {
        case nothing
        case resolve
        /// Come back then.
        case wait(until: UInt64)
    }

    init(intervalMin: Duration, interval: Duration) {
        self.intervalMin = intervalMin.wholeNanoseconds
        self.interval = max(interval.wholeNanoseconds, intervalMin.wholeNanoseconds)
        incompleteWait = self.intervalMin
    }

    /// Someone wants the names resolved: a call that finds no address, or a connection that was lost.
    mutating func ask(now: UInt64) -> Action {
        guard !isResolving else { return .nothing }
        let earliest = finishedAt.map { $0 &+ intervalMin } ?? now
        guard now < earliest else {
            isResolving = true
            dueAt = nil
            return .resolve
        }
        if let dueAt, dueAt <= earliest { return .nothing }
        dueAt = earliest
        return .wait(until: earliest)
    }

    /// The time that was waited for has come. Nothing if something else happened since.
    mutating func arrived(now: UInt64) -> Action {
        guard !isResolving, let dueAt, dueAt <= now else { return .nothing }
        isResolving = true
        self.dueAt = nil
        return .resolve
    }

    /// The answer is there. `isComplete`: each name has addresses; otherwise they are asked for again soon.
    mutating func finished(now: UInt64, isComplete: Bool) -> Action {
        isResolving = false
        finishedAt = now
        let due = now &+ (isComplete ? interval : incompleteWait)
        incompleteWait = isComplete ? intervalMin : min(interval, incompleteWait &* 2)
        dueAt = due
        return .wait(until: due)
    }
}
