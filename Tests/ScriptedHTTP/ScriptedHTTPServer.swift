import Glibc
import Synchronization

/// Answers each connection with what a test wrote, on a thread of its own. Loopback only.
public final class ScriptedHTTPServer: Sendable {
    /// A socket or a thread could not be had.
    public struct Failed: Error {}

    /// A request as it came.
    public struct Request: Sendable {
        /// The first line, such as `GET /keys HTTP/1.1`.
        public let line: String
        /// The header lines, in lower case.
        public let headers: String
        /// The body.
        public let body: String

        /// The path with its query.
        public var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
        /// The path alone.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// The values of a form or a query, percent-decoded.
        public var fields: [String: String] {
            let text = body.isEmpty ? String(target.drop { $0 != "?" }.dropFirst()) : body
            var fields: [String: String] = [:]
            for pair in text.split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.decode)
                fields[parts[0]] = parts.count == 2 ? parts[1] : ""
            }
            return fields
        }

        private static func decode(_ text: Substring) -> String {
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                {
                    bytes.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// What a connection is given.
    public enum Answer: Sendable {
        /// These bytes; then it is closed.
        case bytes(String)
        /// Nothing, for as long as the other side waits.
        case silence
        /// Nothing; it is closed.
        case hangUp
        /// These bytes; then the next request of the same connection.
        case kept(String)
        /// These bytes; then it is reset.
        case reset(String)
        /// These bytes, then the others again and again, for as long as the other side takes them; without others nothing,
        /// for as long as the other side waits.
        case endless(String, String)
        /// The answer to CONNECT, and then what comes is handed on to that port of this machine, and back.
        case tunnel(UInt16)
        /// These bytes one by one, so many milliseconds apart, for as long as the other side waits.
        case drip(String, milliseconds: UInt32)
    }

    /// Where it listens.
    public let port: UInt16
    private let descriptor: Int32
    private let script: @Sendable (Request) -> Answer
    private let received = Mutex<[Request]>([])
    private let connections = Mutex((begun: 0, open: 0))

    /// A server that gives each connection the answer of its path, byte for byte; it never answers a path that is not there.
    public convenience init(_ answers: [String: String]) throws {
        try self.init { request in answers[request.path].map(Answer.bytes) ?? .silence }
    }

    /// A server that asks the test what to answer, on the connection's own thread: the test may take its time.
    public init(script: @escaping @Sendable (Request) -> Answer) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard descriptor >= 0, isListening else { throw Failed() }
        self.descriptor = descriptor
        self.script = script
        port = UInt16(bigEndian: address.sin_port)
        try Self.onThread { [self] in acceptAll() }
    }

    /// The requests that came, in order.
    public var requests: [Request] { received.withLock { $0 } }
    /// How many connections there were.
    public var connectionCount: Int { connections.withLock { $0.begun } }
    /// How many connections there are.
    public var openConnectionCount: Int { connections.withLock { $0.open } }
    /// Their first lines.
    public var requestLines: [String] { requests.map(\.line) }
    /// What its URLs begin with.
    public var base: String { "http://127.0.0.1:\(port)" }

    /// Ends the thread that accepts.
    public func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func acceptAll() {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            do {
                try Self.onThread { [self] in
                    connections.withLock { $0 = ($0.begun + 1, $0.open + 1) }
                    while serve(connection) {}
                    close(connection)
                    connections.withLock { $0.open -= 1 }
                }
            } catch {
                close(connection)
            }
        }
        close(descriptor)
    }

    /// Serves one request. Returns whether another may follow.
    private func serve(_ connection: Int32) -> Bool {
        guard let request = Self.read(connection) else { return false }
        received.withLock { $0.append(request) }
        switch script(request) {
        case .bytes(let text):
            Self.send(Array(text.utf8), connection)
        case .kept(let text):
            return Self.send(Array(text.utf8), connection)
        case .reset(let text):
            Self.send(Array(text.utf8), connection)
            var noLinger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &noLinger, socklen_t(MemoryLayout<linger>.size))
        case .endless(let first, let more):
            let (first, more) = (Array(first.utf8), Array(more.utf8))
            var goesOn = Self.send(first, connection)
            // Nothing, sent again and again, fails never: the thread would keep a core busy to the end of all tests.
            if more.isEmpty { Self.waitForEnd(connection) }
            while goesOn, !more.isEmpty { goesOn = Self.send(more, connection) }
        case .tunnel(let port):
            Self.tunnel(connection, port)
        case .hangUp:
            break
        case .silence:
            Self.waitForEnd(connection)
        case .drip(let text, let milliseconds):
            for byte in text.utf8 {
                guard Self.send([byte], connection) else { break }
                usleep(milliseconds * 1000)
            }
        }
        return false
    }

    private static func tunnel(_ connection: Int32, _ port: UInt16) {
        let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(other) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(other, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected, send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), connection) else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            var files = [connection, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&files, 2, -1) > 0 else { return }
            for (from, to) in [(0, other), (1, connection)] where files[from].revents != 0 {
                let count = Glibc.read(files[from].fd, &buffer, buffer.count)
                guard count > 0, send(Array(buffer[..<count]), to) else { return }
            }
        }
    }

    /// A head and as much body as it says; nil if the connection ends before.
    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound]
                let headers = head.lowercased()
                let length = headers.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.drop { $0 != ":" }.dropFirst().filter { $0 != " " }) }
                let body = text[end.upperBound...]
                if body.utf8.count >= length ?? 0 {
                    let line = head.prefix { !$0.isNewline }
                    return Request(line: String(line), headers: headers, body: String(body))
                }
            }
            let count = Glibc.read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    @discardableResult
    private static func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Glibc.send(connection, Array(rest), rest.count, Int32(MSG_NOSIGNAL))
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }

    private static func waitForEnd(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 512)
        while Glibc.read(connection, &buffer, buffer.count) > 0 {}
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func onThread(_ body: @escaping @Sendable () -> Void) throws {
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            work.toOpaque()
        )
        guard result == 0 else {
            work.release()
            throw Failed()
        }
        pthread_detach(thread)
    }

    /// An answer with its head, after which the connection goes on.
    public static func keptAnswer(_ body: String, _ headers: String = "") -> Answer {
        .kept("HTTP/1.1 200 OK\r\n\(headers)content-length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// An answer with its head.
    public static func answer(_ status: String = "200 OK", _ headers: String = "", body: String) -> String {
        "HTTP/1.1 \(status)\r\n\(headers)content-length: \(body.utf8.count)\r\nconnection: close\r\n\r\n\(body)"
    }
}
