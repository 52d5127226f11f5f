import Glibc

/// Asks an HTTP server for one path and looks only at the status: the gateway's `healthcheck`, and programs that wait for an
/// HTTP server. Blocks its thread for at most the time given, twice.
public enum HTTPProbe {
    /// The status of `GET path`; nil if there was none in time.
    public static func status(address: HostPort, path: String, timeoutMilliseconds: Int) -> Int? {
        guard let descriptor = connectedSocket(to: address, timeoutMilliseconds: timeoutMilliseconds) else {
            return nil
        }
        defer { close(descriptor) }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        // "HTTP/1.1 200"
        var head: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 12)
        while head.count < 12 {
            let count = recv(descriptor, &chunk, 12 - head.count, 0)
            guard count > 0 else { return nil }
            head += chunk[..<count]
        }
        guard head.starts(with: "HTTP/1.".utf8) else { return nil }
        return Int(String(decoding: head[9...], as: UTF8.self))
    }

    private static func connectedSocket(to address: HostPort, timeoutMilliseconds: Int) -> Int32? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        let entry = found.pointee
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
}
