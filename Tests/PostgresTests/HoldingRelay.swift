import Glibc

/// A server's socket for one client after the other, in front of a real server: it holds each ReadyForQuery back for a moment. So the
/// client reads the end of an answer apart from the answer, as happens on a busy machine.
final class HoldingRelay: Sendable {
    private static let held: UInt32 = 50_000  // microseconds

    /// The folder to give to a client as its host.
    let folder: String
    private let socketPath: String
    private let listener: Int32

    /// A relay to the socket of a server. It serves until ``stop()``.
    init(to socketPath: String, port: Int) throws {
        // Not the temporary folder of the environment: the path of a Unix socket has 107 bytes at most.
        var name = Array("/tmp/vst-relay-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw SystemError(call: "mkdtemp", code: errno) }
        folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.socketPath = "\(folder)/.s.PGSQL.\(port)"
        listener = try Self.withAddress(self.socketPath) { descriptor, address, length in
            guard bind(descriptor, address, length) == 0, listen(descriptor, 8) == 0 else {
                throw SystemError(call: "bind", code: errno)
            }
        }
        let listener = listener
        try Self.onThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let server = try? Self.connected(to: socketPath) else { return }
                try? Self.onThread { Self.copy(from: client, to: server) }
                try? Self.onThread { Self.copyMessages(from: server, to: client) }
            }
        }
    }

    /// Takes no more clients.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        unlink(socketPath)
        rmdir(folder)
    }

    private static func connected(to path: String) throws -> Int32 {
        try withAddress(path) { descriptor, address, length in
            guard connect(descriptor, address, length) == 0 else { throw SystemError(call: "connect", code: errno) }
        }
    }

    private static func copy(from: Int32, to: Int32) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(from, &bytes, bytes.count)
            guard count > 0, send(bytes[..<count], to) else { break }
        }
        shutdown(to, Int32(SHUT_RDWR))
    }

    private static func copyMessages(from: Int32, to: Int32) {
        while let head = receive(5, from) {
            let length = head.dropFirst().reduce(0) { $0 << 8 | Int($1) }
            guard let body = receive(length - 4, from) else { break }
            if head[0] == UInt8(ascii: "Z") { usleep(held) }
            guard send((head + body)[...], to) else { break }
        }
        shutdown(to, Int32(SHUT_RDWR))
    }

    private static func receive(_ count: Int, _ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    private static func send(_ bytes: ArraySlice<UInt8>, _ descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            == bytes.count
    }

    private static func withAddress(
        _ path: String,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(call: "socket", code: errno) }
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return descriptor
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) throws {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let code = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
                return nil
            },
            box.toOpaque()
        )
        guard code == 0 else { throw SystemError(call: "pthread_create", code: code) }
        pthread_detach(thread)
    }

    struct SystemError: Error {
        let call: String
        let code: Int32
    }
}
