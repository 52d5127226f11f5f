/// When programs that have ended are started again: at first soon, then after a wait that doubles, and soon again after a program
/// has run for a while. A pure value: the time is passed in.
struct ProgramRestarts: Sendable {
    /// What to do with a program that has ended.
    enum Step: Sendable, Hashable {
        /// It is started after that wait, which has just begun.
        case announce(Duration)
        /// The wait is not over.
        case wait
        /// It is to be started now.
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
    /// After so long a run a program counts as one that never failed.
    static let goodRun: Duration = .seconds(60)

    /// What to do with a program that has ended. Called again and again until it says `start`.
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
