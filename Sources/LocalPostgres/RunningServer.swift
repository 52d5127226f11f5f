import Foundation

/// A started server: the watcher, which is our child, and the server, which is the watcher's child.
final class RunningServer: Sendable {
    private let folder: ClusterFolder
    private let watcher: pid_t
    /// The write end of the pipe that the watcher reads. It is closed when this process ends in any way.
    private let lifeline: Int32

    /// Runs the server, and beside it a reader of the pipe on descriptor 0. End of file means that our process has ended.
    /// (`PR_SET_PDEATHSIG` would fire when the starting *thread* ends, which may be long before.)
    private static let script = """
        exec 3<&0 </dev/null
        "$@" 3<&- &
        server=$!
        ( read -r _ <&3; kill -INT $server; sleep 10; kill -QUIT $server ) 2>/dev/null &
        reader=$!
        exec 3<&-
        wait $server
        status=$?
        kill $reader 2>/dev/null
        exit $status
        """

    private init(folder: ClusterFolder, watcher: pid_t, lifeline: Int32) {
        self.folder = folder
        self.watcher = watcher
        self.lifeline = lifeline
    }

    static func start(programs: ServerPrograms, folder: ClusterFolder) throws(LocalPostgresError) -> RunningServer {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", path: folder.path, errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let log = open(folder.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else {
            close(ends[1])
            throw .system(call: "open", path: folder.log, errno: errno)
        }
        defer { close(log) }
        let command = ["/bin/sh", "-c", script, "sh", programs.postgres, "-c", "config_file=\(folder.configuration)"]
        do {
            let watcher = try ChildProcess.spawn(
                folder.user.commandLine(command),
                input: ends[0],
                output: log,
                ownSession: true
            )
            return RunningServer(folder: folder, watcher: watcher, lifeline: ends[1])
        } catch {
            close(ends[1])
            throw error
        }
    }

    /// The server's process id, after it has written its file.
    var processID: pid_t? { PostmasterFile(dataFolder: folder.data)?.processID }

    /// Whether the watcher, and with it the server, is running.
    var isAlive: Bool { Foundation.kill(watcher, 0) == 0 && !isZombie(watcher) }

    func waitUntilReady(limitSeconds: Double) throws(LocalPostgresError) {
        let limit = Date().addingTimeInterval(limitSeconds)
        while Date() < limit {
            if let file = PostmasterFile(dataFolder: folder.data), file.isReady, file.isServer(of: folder.data) {
                return
            }
            guard isAlive else { throw .serverEnded(log: folder.logTail()) }
            usleep(10_000)
        }
        throw .startTimedOut(log: folder.logTail())
    }

    /// Signals the server and waits until it has ended, with stronger signals if it takes long.
    func end(with signal: Int32) {
        if let processID { Self.end(processID: processID, signal: signal) }
        release()
    }

    /// Kills the server and all its sessions at the same time.
    func kill() {
        if let processID {
            // The server is stopped first: otherwise it could start another session meanwhile.
            Foundation.kill(processID, SIGSTOP)
            let sessions = Self.children(of: processID)
            Foundation.kill(processID, SIGKILL)
            sessions.forEach { Foundation.kill($0, SIGKILL) }
            for process in [processID] + sessions { Self.waitUntilGone(process, limitSeconds: 10) }
        }
        release()
    }

    private func release() {
        close(lifeline)
        _ = ChildProcess.wait(for: watcher)
    }

    /// Fast shutdown (SIGINT) by default; after 10 s immediate (SIGQUIT), after 15 s SIGKILL.
    static func end(processID: pid_t, signal: Int32) {
        Foundation.kill(processID, signal)
        Foundation.kill(processID, SIGCONT)
        if waitUntilGone(processID, limitSeconds: 10) { return }
        Foundation.kill(processID, SIGQUIT)
        if waitUntilGone(processID, limitSeconds: 5) { return }
        Foundation.kill(processID, SIGKILL)
        waitUntilGone(processID, limitSeconds: 5)
    }

    @discardableResult
    private static func waitUntilGone(_ process: pid_t, limitSeconds: Double) -> Bool {
        let limit = Date().addingTimeInterval(limitSeconds)
        while Foundation.kill(process, 0) == 0 && !isZombie(process) {
            guard Date() < limit else { return false }
            usleep(5_000)
        }
        return true
    }

    private static func children(of parent: pid_t) -> [pid_t] {
        let text = try? String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
    }
}

/// Whether the process has ended and only waits to be reaped (proc(5), field 3 of `stat`).
private func isZombie(_ process: pid_t) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
        let nameEnd = text.lastIndex(of: ")")
    else { return true }
    return text[nameEnd...].dropFirst(2).first == "Z"
}
