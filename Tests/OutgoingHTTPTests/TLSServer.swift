import Glibc
import RPCTransport

/// The program `openssl s_server` on a port of this machine that the kernel chose.
final class TLSServer {
    struct Failed: Error {}

    let port: UInt16
    private let process: pid_t

    /// - Parameters:
    ///   - files: its certificate and the private key.
    ///   - more: further arguments of the program.
    init(_ files: TLSConfiguration, _ more: [String] = []) throws {
        guard let certificate = files.certificateChainFile, let key = files.privateKeyFile else { throw Failed() }
        // In /tmp, which every machine has; without a name from the next line but one on, so that nothing is left there.
        var name = Array("/tmp/tls-server-XXXXXX".utf8CString)
        let output = mkstemp(&name)
        guard output >= 0 else { throw Failed() }
        unlink(name)
        defer { close(output) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let arguments =
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"] + more
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        guard posix_spawnp(&process, "openssl", &actions, nil, words, environ) == 0 else { throw Failed() }
        self.process = process
        for _ in 0..<3000 {
            if let port = Self.port(in: output) {
                self.port = port
                return
            }
            usleep(10_000)
        }
        port = 0
        stop()
        throw Failed()
    }

    func stop() {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// The port that the kernel gave it: a port chosen here could be another test's before the program listens on it.
    private static func port(in output: Int32) -> UInt16? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(output, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let lines = bytes[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        let start = "ACCEPT 127.0.0.1:"
        return lines.lazy.map { String(decoding: $0, as: UTF8.self) }.first { $0.hasPrefix(start) }
            .flatMap { UInt16($0.dropFirst(start.count)) }
    }
}
