import Foundation

/// Starts child processes by `posix_spawn`, with only the given descriptors and the default signal state.
package enum ChildProcess {
    /// An environment without the `PG…` variables, which could misdirect a PostgreSQL client.
    package static let plainEnvironment = [
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "TZ": "UTC",
    ]

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the path of the program, and its arguments.
    ///   - environment: its variables.
    ///   - input: its standard input.
    ///   - output: its standard output and standard error.
    ///   - ownSession: whether it gets a new session, so that the terminal's Ctrl-C doesn't reach it.
    package static func spawn(
        _ arguments: [String],
        environment: [String: String] = plainEnvironment,
        input: Int32,
        output: Int32,
        ownSession: Bool = false
    ) throws(LocalPostgresError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        for descriptor in inheritableDescriptors() { posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        if ownSession { flags |= 0x80 }  // POSIX_SPAWN_SETSID of <spawn.h>, which Swift's Glibc doesn't show.
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var identifier = pid_t()
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let code = withCStrings(arguments) { argv in
            withCStrings(variables) { envp in
                posix_spawn(&identifier, arguments[0], &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw .system(call: "posix_spawn", path: arguments[0], errno: code) }
        return identifier
    }

    /// Runs a program to its end; returns its exit status and its output (both streams).
    ///
    /// Input and output are unnamed files, so no pipe can fill up and block either side.
    package static func run(
        _ arguments: [String],
        environment: [String: String] = plainEnvironment,
        input: String = ""
    ) throws(LocalPostgresError) -> (status: Int32, output: String) {
        let inputFile = try unnamedFile()
        defer { close(inputFile) }
        let outputFile = try unnamedFile()
        defer { close(outputFile) }
        var written = 0
        let bytes = Array(input.utf8)
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(inputFile, $0.baseAddress, $0.count) }
            guard count > 0 else { throw .system(call: "write", path: arguments[0], errno: errno) }
            written += count
        }
        lseek(inputFile, 0, SEEK_SET)
        let child = try spawn(arguments, environment: environment, input: inputFile, output: outputFile)
        let status = wait(for: child)
        lseek(outputFile, 0, SEEK_SET)
        return (status, readAll(outputFile))
    }

    /// Waits for a child's end; returns its exit status, or 128 plus the number of the signal that ended it.
    package static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    /// Waits for a child's end like `wait(for:)`, and kills the rest of its process group.
    package static func waitForGroup(of child: pid_t) -> Int32 {
        var information = siginfo_t()
        // The child isn't reaped yet, so the system can't reuse the group's number meanwhile.
        while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        kill(-child, SIGKILL)
        return wait(for: child)
    }

    /// The descriptors beyond the three that a child would inherit: a server must not hold another's listening socket open.
    private static func inheritableDescriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            return descriptor > 2 && flags >= 0 && flags & FD_CLOEXEC == 0
        }
    }

    private static func unnamedFile() throws(LocalPostgresError) -> Int32 {
        var name = Array("/tmp/vestibule-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw .system(call: "mkstemp", path: "/tmp", errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(name)
        return descriptor
    }

    private static func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        return body(pointers)
    }
}
