import Foundation

/// Starts processes with exactly the descriptors that are meant for them.
enum ProcessSpawn {
    /// Starts a program in a new session; its two output streams are one.
    static func start(
        _ arguments: [String],
        environment: [String: String],
        input: Int32,
        output: Int32
    ) throws(StackError) -> pid_t {
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
        // POSIX_SPAWN_SETSID of <spawn.h> is 0x80; Swift's Glibc doesn't show it.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80))

        var process = pid_t()
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let code = withCStrings(arguments) { argv in
            withCStrings(variables) { envp in
                posix_spawn(&process, arguments[0], &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else {
            throw StackError("\(arguments[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        return process
    }

    /// Waits for the end of a child, and ends what is left of its process group: its status, or 128 plus the signal
    /// that ended it.
    static func wait(for process: pid_t) -> Int32 {
        var information = siginfo_t()
        // Not collected yet, so nobody else can be given the group's number meanwhile.
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        kill(-process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    private static func inheritableDescriptors() -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { Int32($0) }.filter { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            return descriptor > 2 && flags >= 0 && flags & FD_CLOEXEC == 0
        }
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

/// A pipe whose ends children don't inherit unless told.
struct ProcessPipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws(StackError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StackError("pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }
}

/// Lines from a descriptor until it ends. A line over 64 KiB comes in pieces.
enum LineReader {
    private static let lineBytesMax = 65_536

    static func readLines(from descriptor: Int32, _ take: (String) -> Void) {
        var pending: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            pending += chunk[..<count]
            while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                take(String(decoding: pending[..<end], as: UTF8.self))
                pending.removeSubrange(...end)
            }
            if pending.count > lineBytesMax {
                take(String(decoding: pending, as: UTF8.self))
                pending = []
            }
        }
        if !pending.isEmpty { take(String(decoding: pending, as: UTF8.self)) }
    }
}
