import Foundation
import LocalPostgres
import Synchronization

/// A program of the stack as a child process that cannot outlive this one.
///
/// Between us and it stands a small shell that reads a pipe of ours. When the pipe closes, because we ask for a stop or
/// because this process is gone however it ended, the shell sends SIGTERM, and SIGKILL if that doesn't help. (A parent
/// death signal would fire when the starting *thread* ends, which may be long before.)
final class StackProgram: Sendable {
    let name: String
    /// How the program ended: its status (128 plus the number for a signal). Nil while it runs, and until all that it
    /// printed was taken.
    var exitStatus: Int32? { ending.withLock { $0 } }

    private let group: pid_t
    private let lifeline: Mutex<Int32>
    private let ending = Mutex<Int32?>(nil)

    /// How long the programs may take to end their calls, as `run` sets it.
    static let drainLimitSeconds = 10
    /// How long after SIGTERM comes SIGKILL.
    static let graceSeconds = drainLimitSeconds + 5

    /// The program's path comes as a variable, so that whoever looks for the program in the list of processes finds it
    /// and not its shell.
    private static let pathVariable = "STACK_PROGRAM"
    private static func script(graceSeconds: Int) -> String {
        """
        path=$\(pathVariable)
        unset \(pathVariable)
        exec 3<&0 </dev/null
        "$path" "$@" 3<&- &
        child=$!
        (
            exec >/dev/null 2>&1
            read -r _ <&3
            kill -TERM $child
            tries=0
            while kill -0 $child && [ $tries -lt \(graceSeconds * 10) ]; do
                sleep 0.1
                tries=$((tries + 1))
            done
            kill -KILL $child
        ) &
        reader=$!
        exec 3<&-
        wait $child
        status=$?
        kill $reader 2>/dev/null
        exit $status
        """
    }

    private init(name: String, group: pid_t, lifeline: Int32) {
        self.name = name
        self.group = group
        self.lifeline = Mutex(lifeline)
    }

    /// Starts a program in a session of its own, so that the terminal's Ctrl-C reaches only us.
    ///
    /// - Parameters:
    ///   - name: for logs and messages.
    ///   - command: the program's path and arguments.
    ///   - environment: all of its environment.
    ///   - graceSeconds: how long it may take to stop before it is killed.
    ///   - log: takes what it prints, line by line, on a thread of its own.
    static func start(
        name: String,
        command: [String],
        environment: [String: String],
        graceSeconds: Int = graceSeconds,
        log: @escaping @Sendable (String) -> Void
    ) throws -> StackProgram {
        let input = try ProcessPipe()
        let output = try ProcessPipe()
        let group: pid_t
        do {
            group = try ChildProcess.spawn(
                ["/bin/sh", "-c", script(graceSeconds: graceSeconds), "sh"] + command.dropFirst(),
                environment: environment.merging([pathVariable: command[0]]) { _, path in path },
                input: input.readEnd,
                output: output.writeEnd,
                ownSession: true
            )
        } catch {
            throw StackError("\(name) cannot be started: \(error)")
        }
        close(input.readEnd)
        close(output.writeEnd)
        let program = StackProgram(name: name, group: group, lifeline: input.writeEnd)
        Thread.detachNewThread {
            LineReader.readLines(from: output.readEnd, log)
            close(output.readEnd)
            let status = ChildProcess.waitForGroup(of: group)
            program.ending.withLock { $0 = status }
        }
        return program
    }

    /// Asks the program to stop. Returns at once.
    func stop() {
        lifeline.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Ends the program, its shell and whatever they started, now.
    func kill() {
        if exitStatus == nil { Foundation.kill(-group, SIGKILL) }
    }
}
