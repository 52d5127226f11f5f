import Glibc
import RPCTransport

/// The program `openssl s_server` on a free port of this machine.
final class TLSServer {
    struct Failed: Error {}

    let port: UInt16
    private let process: pid_t

    /// - Parameters:
    ///   - files: its certificate and the private key.
    ///   - more: further arguments of the program.
    init(_ files: TLSConfiguration, _ more: [String] = []) throws {
        guard let certificate = files.certificateChainFile, let key = files.privateKeyFile else { throw Failed() }
        let port = try Self.freePort()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for output: Int32 in [1, 2] { posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let arguments =
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", key, "-www",
                "-quiet",
            ] + more
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        guard posix_spawnp(&process, "openssl", &actions, nil, words, environ) == 0 else { throw Failed() }
        self.process = process
        self.port = port
        for _ in 0..<500 {
            if Self.isListening(port) { return }
            usleep(10_000)
        }
        stop()
        throw Failed()
    }

    func stop() {
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    private static func freePort() throws -> UInt16 {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        let port = try withAddress(port: 0) { address, length in
            guard bind(probe, address, length.pointee) == 0, getsockname(probe, address, length) == 0 else {
                throw Failed()
            }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
        return port
    }

    private static func isListening(_ port: UInt16) -> Bool {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        return withAddress(port: port) { address, length in connect(probe, address, length.pointee) == 0 }
    }

    private static func withAddress<Value>(
        port: UInt16,
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) throws -> Value
    ) rethrows -> Value {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, &length) }
        }
    }
}
