import Glibc
import HTTPTypes

/// Speaks HTTP/1.1 over sockets of its own, byte by byte as a test says. Loopback only.
public struct SocketClient: Sendable {
    /// What went wrong with a socket.
    public struct Failed: Error {
        /// The system's number.
        public let number: Int32
    }

    /// An answer.
    public struct Answer: Sendable {
        /// The status.
        public let status: HTTPResponse.Status
        /// The fields.
        public let headers: HTTPFields
        /// The body.
        public let body: [UInt8]
    }

    private let port: Int

    /// A client of a port of 127.0.0.1.
    public init(port: Int) { self.port = port }

    /// Sends bytes as they are, part by part, and returns all that comes back until the server closes.
    public func exchange(_ parts: [String]) async throws -> String {
        let port = port
        return try await withCheckedThrowingContinuation { continuation in
            Self.run { continuation.resume(with: Result { try Self.exchange(port, parts) }) }
        }
    }

    /// Runs what blocks on a thread of its own: the pool that tasks run on has few, which the server may need.
    private static func run(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let code = pthread_create(
            &thread,
            nil,
            { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
                return nil
            },
            Unmanaged.passRetained(Box(body)).toOpaque()
        )
        precondition(code == 0, "no thread for a test")
        pthread_detach(thread)
    }

    /// Sends one request and reads its answer, on a connection of its own.
    public func send(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: HTTPFields = [:],
        body: String = ""
    ) async throws -> Answer {
        var text = "\(method.rawValue) \(target) HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\n"
        for field in headers { text += "\(field.name.rawName): \(field.value)\r\n" }
        if !body.isEmpty { text += "content-length: \(body.utf8.count)\r\n" }
        return try Self.answer(try await exchange([text + "\r\n" + body]))
    }

    /// An answer from its text, whose body is all that follows the head.
    private static func answer(_ text: String) throws(Failed) -> Answer {
        // A carriage return and a line feed are one character.
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let end = lines.firstIndex(of: ""), let line = lines.first, line.hasPrefix("HTTP/1.1 "),
            let code = Int(line.dropFirst("HTTP/1.1 ".count).prefix(3))
        else { throw Failed(number: EPROTO) }
        var headers = HTTPFields()
        for line in lines[1..<end] {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard let name = HTTPField.Name(String(parts[0])) else { throw Failed(number: EPROTO) }
            headers.append(HTTPField(name: name, value: parts.count == 2 ? String(parts[1].drop { $0 == " " }) : ""))
        }
        let body = lines[(end + 1)...].joined(separator: "\r\n")
        return Answer(status: .init(code: code), headers: headers, body: Array(body.utf8))
    }

    private static func exchange(_ port: Int, _ parts: [String]) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failed(number: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failed(number: errno) }
        for part in parts { write(Array(part.utf8), to: descriptor) }
        return String(decoding: everything(from: descriptor), as: UTF8.self)
    }

    /// Writes what the server takes: it may close while we still send.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    private static func everything(from descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
