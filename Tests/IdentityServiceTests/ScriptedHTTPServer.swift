import Glibc
import Synchronization

/// Answers each connection with bytes that a test wrote, on a thread of its own. Loopback only.
final class ScriptedHTTPServer: Sendable {
    struct Failed: Error {}

    let port: UInt16
    private let descriptor: Int32
    private let requests = Mutex<[String]>([])

    /// A server that gives each connection the answer of its path, byte for byte, then closes it; it never answers a
    /// path that is not there.
    init(_ answers: [String: String]) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard descriptor >= 0, isListening else { throw Failed() }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
        let box = Box(server: self, answers: answers)
        var thread = pthread_t()
        let started = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            Unmanaged.passRetained(box).toOpaque()
        )
        guard started == 0 else { throw Failed() }
        pthread_detach(thread)
    }

    /// The first lines of the requests that came.
    var requestLines: [String] { requests.withLock { $0 } }

    /// Ends the thread.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func run(_ answers: [String: String]) {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            var buffer = [UInt8](repeating: 0, count: 8192)
            let count = read(connection, &buffer, buffer.count)
            let head = String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
            let line = head.prefix { !$0.isNewline }
            requests.withLock { $0.append(String(line)) }
            let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            guard let answer = answers[path] else { continue }
            let bytes = Array(answer.utf8)
            var sent = 0
            while sent < bytes.count {
                let written = send(connection, Array(bytes[sent...]), bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard written > 0 else { break }
                sent += written
            }
            close(connection)
        }
        close(descriptor)
    }

    private final class Box {
        let server: ScriptedHTTPServer
        let answers: [String: String]

        init(server: ScriptedHTTPServer, answers: [String: String]) {
            self.server = server
            self.answers = answers
        }

        func run() { server.run(answers) }
    }

    /// An answer with its head.
    static func answer(_ status: String = "200 OK", _ headers: String = "", body: String) -> String {
        "HTTP/1.1 \(status)\r\n\(headers)content-length: \(body.utf8.count)\r\nconnection: close\r\n\r\n\(body)"
    }
}
