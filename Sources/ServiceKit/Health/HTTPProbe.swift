import Glibc
import RPC

/// Asks an HTTP server for one path: the gateway's `healthcheck`, programs that wait for an HTTP server, and `vestibule status`.
/// Blocks its thread for at most the time given for each step: connecting, sending, and each part of the response.
public enum HTTPProbe {
    /// The status of `GET path`; nil if there was none in time.
    public static func status(address: HostPort, path: String, timeoutMilliseconds: Int) -> Int? {
        guard let head = response(address, path, timeoutMilliseconds, bytesMax: statusBytes) else { return nil }
        return status(head)
    }

    /// The body of `GET path`; nil if it didn't come in time, isn't 200, or has more than `bytesMax` bytes with its head.
    public static func body(address: HostPort, path: String, timeoutMilliseconds: Int, bytesMax: Int) -> String? {
        guard let bytes = response(address, path, timeoutMilliseconds, bytesMax: bytesMax + 1), bytes.count <= bytesMax,
            status(bytes) == 200, let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
        else { return nil }
        return String(decoding: bytes[end...], as: UTF8.self)
    }

    /// The addresses that a name stands for, as digits: one for each replica of a service. The address itself if it is digits, or
    /// can't be looked up.
    public static func addresses(of address: HostPort) -> [HostPort] {
        var found: [HostPort] = []
        withAddresses(of: address) { entry in
            var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let flags = NI_NUMERICHOST
            guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &host, socklen_t(host.count), nil, 0, flags) == 0 else {
                return true
            }
            let digits = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            found.append(HostPort(host: digits, port: address.port))
            return true
        }
        return found.isEmpty ? [address] : found
    }

    /// "HTTP/1.1 200"
    private static let statusBytes = 12

    private static func status(_ head: [UInt8]) -> Int? {
        guard head.count >= statusBytes, head.starts(with: "HTTP/1.".utf8) else { return nil }
        return Int(String(decoding: head[9..<statusBytes], as: UTF8.self))
    }

    /// The first bytes of the response, all of it if it is shorter; nil if the server fell silent.
    private static func response(_ address: HostPort, _ path: String, _ timeout: Int, bytesMax: Int) -> [UInt8]? {
        guard let descriptor = connectedSocket(to: address, timeoutMilliseconds: timeout) else { return nil }
        defer { close(descriptor) }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        var response: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(bytesMax, 65_536))
        // One that gives a byte now and then must come to an end.
        let deadline = Deadline.after(.milliseconds(timeout * 5))
        while response.count < bytesMax {
            guard deadline.remaining > .zero else { return nil }
            let count = recv(descriptor, &chunk, min(chunk.count, bytesMax - response.count), 0)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            response += chunk[..<count]
        }
        return response
    }

    private static func connectedSocket(to address: HostPort, timeoutMilliseconds: Int) -> Int32? {
        var connected: Int32?
        withAddresses(of: address) { entry in
            connected = connectedSocket(entry, timeoutMilliseconds)
            return false
        }
        return connected
    }

    private static func connectedSocket(_ entry: addrinfo, _ timeoutMilliseconds: Int) -> Int32? {
        let descriptor = socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), entry.ai_protocol)
        guard descriptor >= 0 else { return nil }
        var limit = timeval(
            tv_sec: timeoutMilliseconds / 1000,
            tv_usec: timeoutMilliseconds % 1000 * 1000
        )
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        // On Linux it bounds connect as well.
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        guard connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Calls the closure with each address until it returns false.
    private static func withAddresses(of address: HostPort, _ body: (addrinfo) -> Bool) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0 else { return }
        defer { freeaddrinfo(found) }
        var next = found
        while let entry = next?.pointee {
            guard body(entry) else { return }
            next = entry.ai_next
        }
    }
}
