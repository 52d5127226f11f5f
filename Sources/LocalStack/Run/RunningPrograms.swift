import Glibc
import Synchronization

/// The started programs of a stack.
final class RunningPrograms: Sendable {
    /// A program with its log.
    struct Entry: Sendable {
        let plan: PlannedProgram
        let program: StackProgram
        let log: ProgramLog

        /// How it ended, for people.
        var ending: String {
            let status = program.exitStatus ?? 0
            return status > 128 ? "was ended by signal \(status - 128)" : "ended with status \(status)"
        }

        /// An error for people: how it ended, and its last lines.
        var error: StackError {
            let lines = log.lastLines.map { "\n  \($0)" }.joined()
            return StackError("\(program.name) \(ending); the last lines of \(StackFolder.shown(log.path)):\(lines)")
        }
    }

    private let entries = Mutex<[Entry]>([])
    private let showsFaults: Bool

    /// No programs yet.
    ///
    /// - Parameter showsFaults: whether the console shows their warnings and errors, besides their logs.
    init(showsFaults: Bool = true) { self.showsFaults = showsFaults }

    /// Starts a program.
    func start(
        _ plan: PlannedProgram,
        environment: [String: String],
        console: StackConsole,
        folder: StackFolder
    ) throws {
        let log = try ProgramLog(path: "\(folder.logs)/\(plan.name).log")
        let program = try start(plan, environment, console, log)
        entries.withLock { $0.append(Entry(plan: plan, program: program, log: log)) }
    }

    /// Starts a program again that has ended. It continues its log file.
    func restart(_ ended: Entry, environment: [String: String], console: StackConsole) throws {
        let program = try start(ended.plan, environment, console, ended.log)
        entries.withLock { entries in
            entries.removeAll { $0.program === ended.program }
            entries.append(Entry(plan: ended.plan, program: program, log: ended.log))
        }
    }

    private func start(
        _ plan: PlannedProgram,
        _ environment: [String: String],
        _ console: StackConsole,
        _ log: ProgramLog
    ) throws -> StackProgram {
        let (name, showsFaults) = (plan.name, showsFaults)
        return try StackProgram.start(
            name: name,
            command: plan.command,
            environment: environment.merging(plan.environment) { _, own in own },
            log: { line in
                log.append(line)
                if showsFaults, ProgramLog.isImportant(line) { console.say("\(name): \(line)") }
            }
        )
    }

    /// The programs that have ended and were not started again.
    var ended: [Entry] { entries.withLock { $0.filter { $0.program.exitStatus != nil } } }

    /// Throws an error about the first program that has ended by itself.
    func requireAllRunning() throws(StackError) {
        if let ended = entries.withLock({ $0.first { $0.program.exitStatus != nil } }) { throw ended.error }
    }

    /// The first program to end; nil if none does in time, or before a stop was requested.
    func waitForFirst(limit: Duration, isStopped: () -> Bool) async -> Entry? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end, !isStopped() {
            if let ended = entries.withLock({ $0.first { $0.program.exitStatus != nil } }) { return ended }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }

    /// Stops those programs and waits until they have ended.
    func stop(_ isMeant: (_ name: String) -> Bool) async {
        let programs = entries.withLock { entries in entries.map(\.program).filter { isMeant($0.name) } }
        for program in programs { program.stop() }
        // The shell of each program kills it in the end; this is for the shell itself.
        let end = ContinuousClock.now + .seconds(StackProgram.drainLimitSeconds + 10)
        while programs.contains(where: { $0.exitStatus == nil }) {
            if ContinuousClock.now > end { for program in programs { program.kill() } }
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Kills all of them immediately.
    func killAll() {
        for entry in entries.withLock({ $0 }) { entry.program.kill() }
    }
}
