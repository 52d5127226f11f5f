import Foundation
import LocalPostgres
import Synchronization

/// A program of the stack as a child process that cannot outlive this one.
///
/// A small shell is its parent, and reads a pipe from us. When the pipe closes, because we stop the program or because this
/// process has ended in any way, the shell sends SIGTERM, and SIGKILL if that doesn't help. (A parent death signal would fire
/// when the starting *thread* ends, which may be long before.)
final class StackProgram: Sendable {
    let name: String
    /// The program's exit status (128 plus the number for a signal). Nil while it runs, and until all its output has been
    /// read.
    var exitStatus: Int32? { ending.withLock { $0 } }

    private let group: pid_t
    private let lifeline: Mutex<Int32>
    private let ending = Mutex<Int32?>(nil)

    /// The drain limit of the programs in `run`.
    static let drainLimitSeconds = 10
    /// The time between SIGTERM and SIGKILL.
    static let graceSeconds = drainLimitSeconds + 5

    /// The program's path is passed in a variable, so that a search in the list of processes finds the program and not its
    /// shell.
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
    ///   - environment: its complete environment.
    ///   - graceSeconds: the time that it has to stop before it is killed.
    ///   - log: gets its output line by line, on a separate thread.
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

    /// Asks the program to stop. Returns immediately.
    func stop() {
        lifeline.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Kills the program, its shell and all their children immediately.
    func kill() {
        if exitStatus == nil { Foundation.kill(-group, SIGKILL) }
    }
}
