import Glibc
import ServiceKit

/// Free ports of the loopback address.
enum LoopbackPorts {
    /// Addresses with different ports that no process listens on now.
    static func free(count: Int) throws -> [HostPort] {
        var sockets: [Int32] = []
        // Held until all are found, so that none is found twice.
        defer { for descriptor in sockets { close(descriptor) } }
        return try (0..<count).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw FileError.lastError("socket") }
            sockets.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let port = try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else {
                        throw FileError.lastError("a port of 127.0.0.1")
                    }
                }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
            return HostPort(host: "127.0.0.1", port: Int(port))
        }
    }
}
