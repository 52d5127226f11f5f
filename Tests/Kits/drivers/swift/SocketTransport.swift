import Foundation
import VestibuleClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// HTTP/1.1 to a server on loopback, a connection for each request. Foundation of Linux (6.3) ends the process where a connection ends
/// within the head of a response, which the cases do at each byte; Tests/Kits/test_swift_transport.py has them with URLSession but for
/// those bytes.
// What changes is guarded by `lock`.
final class SocketTransport: HTTPTransport, @unchecked Sendable {
    private let lock = NSLock()
    private var open: [ObjectIdentifier: SocketConnection] = [:]

    func stream(_ request: HTTPRequest) async throws -> HTTPStream {
        try Task.checkCancellation()
        let connection = try SocketConnection(port: UInt16(request.url.port ?? 80))
        lock.withLock { open[ObjectIdentifier(connection)] = connection }
        let cancel: @Sendable () -> Void = { connection.shutDown() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { [self] in
                    connection.exchange(request, continuation, cancel)
                    lock.withLock { open[ObjectIdentifier(connection)] = nil }
                }
            }
        } onCancel: {
            connection.shutDown()
        }
    }

    func close() {
        for connection in lock.withLock({ Array(open.values) }) { connection.shutDown() }
    }
}

/// One connection, read by a thread.
// What changes is guarded by `lock`; the rest is the thread's that reads.
final class SocketConnection: @unchecked Sendable {
    private let lock = NSLock()
    private var descriptor: Int32
    private var buffer: [UInt8] = []
    private var isShut = false

    init(port: UInt16) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                Foundation.connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            Foundation.close(descriptor)
            throw HTTPFailure(wasNotSent: true, isTimeout: false, message: "No connection.")
        }
    }

    func shutDown() {
        lock.withLock {
            isShut = true
            if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func end() {
        lock.withLock {
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    private var failure: any Error {
        lock.withLock { isShut }
            ? CancellationError() : HTTPFailure(wasNotSent: false, isTimeout: false, message: "The connection ended.")
    }

    func exchange(
        _ request: HTTPRequest,
        _ waiter: CheckedContinuation<HTTPStream, any Error>,
        _ cancel: @escaping @Sendable () -> Void
    ) {
        defer { end() }
        write(request)
        guard let (status, headers) = head() else { return waiter.resume(throwing: failure) }
        let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.onTermination = { _ in cancel() }
        waiter.resume(returning: HTTPStream(status: status, headers: headers, pieces: pieces, cancel: cancel))
        continuation.finish(throwing: body(headers, continuation) ? nil : failure)
    }

    private func write(_ request: HTTPRequest) {
        var head = "\(request.method) \(request.url.path) HTTP/1.1\r\nhost: loopback\r\nconnection: close\r\n"
        for (name, value) in request.headers { head += "\(name): \(value)\r\n" }
        head += "content-length: \(request.body.count)\r\n\r\n"
        let bytes = Array(Data(head.utf8) + request.body)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, 0x4000) }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Reads more; false at the end.
    private func read() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16384)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 { buffer += bytes[..<count] }
        return count > 0
    }

    private func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                let line = String(decoding: buffer[..<end], as: UTF8.self).trimmingCharacters(
                    in: .whitespacesAndNewlines
                )
                buffer.removeFirst(end + 1)
                return line
            }
            guard read() else { return nil }
        }
    }

    private func head() -> (Int, [String: String])? {
        guard let first = line()?.split(separator: " "), first.count > 1, let status = Int(first[1]) else { return nil }
        var headers: [String: String] = [:]
        while let line = line() {
            if line.isEmpty { return (status, headers) }
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        return nil
    }

    /// Passes the body on; false if it isn't whole.
    private func body(_ headers: [String: String], _ continuation: AsyncThrowingStream<Data, any Error>.Continuation)
        -> Bool
    {
        guard headers["transfer-encoding"] == "chunked" else {
            return pass(Int(headers["content-length"] ?? "0") ?? 0, continuation)
        }
        while let size = line().flatMap({ Int($0, radix: 16) }) {
            guard size > 0 else { return true }
            guard pass(size, continuation), line() != nil else { return false }
        }
        return false
    }

    private func pass(_ count: Int, _ continuation: AsyncThrowingStream<Data, any Error>.Continuation) -> Bool {
        var rest = count
        while rest > 0 {
            if buffer.isEmpty, !read() { return false }
            let piece = buffer.prefix(rest)
            rest -= piece.count
            buffer.removeFirst(piece.count)
            continuation.yield(Data(piece))
        }
        return true
    }
}
