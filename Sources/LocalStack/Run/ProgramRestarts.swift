/// Decides when ended programs are started again: after a wait that doubles with each restart, and is reset when a program has
/// run for some time. A pure value: the time is passed in.
struct ProgramRestarts: Sendable {
    /// What to do with a program that has ended.
    enum Step: Sendable, Hashable {
        /// Start it after this wait, which has just begun.
        case announce(Duration)
        /// The wait is not over.
        case wait
        /// Start it now.
        case start
    }

    private struct Program {
        var failures = 0
        var startedAt: ContinuousClock.Instant?
        var startsAt: ContinuousClock.Instant?
    }
    private var programs: [String: Program] = [:]

    /// The first wait, and the longest.
    static let firstWait: Duration = .milliseconds(500)
    static let longestWait: Duration = .seconds(30)
    /// After a run of this length the wait is reset.
    static let goodRun: Duration = .seconds(60)

    /// What to do with a program that has ended. Called repeatedly until it returns `start`.
    mutating func next(_ name: String, now: ContinuousClock.Instant) -> Step {
        var program = programs[name] ?? Program()
        defer { programs[name] = program }
        if let startsAt = program.startsAt {
            guard now >= startsAt else { return .wait }
            program.startsAt = nil
            program.startedAt = now
            return .start
        }
        if let startedAt = program.startedAt, now - startedAt >= Self.goodRun { program.failures = 0 }
        let wait = min(Self.firstWait * (1 << min(program.failures, 10)), Self.longestWait)
        program.failures += 1
        program.startsAt = now + wait
        return .announce(wait)
    }
}
