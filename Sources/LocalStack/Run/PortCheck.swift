import Foundation
import ServiceKit

/// Checks before the start whether the programs can listen on their addresses, and which process uses a taken one.
enum PortCheck {
    /// Throws one line with the first taken address, and the process that uses it if that can be found out.
    static func requireFree(_ address: HostPort, for program: String, key: String) throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let found else {
            throw StackError("\(program) cannot listen on \(address): no such host (\(key))")
        }
        defer { freeaddrinfo(found) }
        let entry = found.pointee
        let descriptor = socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), entry.ai_protocol)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Only a listener is an obstacle, not connections of an earlier run in TIME_WAIT.
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        if bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 { return }
        let code = errno
        guard code == EADDRINUSE else {
            throw StackError("\(program) cannot listen on \(address): \(String(cString: strerror(code))) (\(key))")
        }
        let holder = PortHolder.name(ofPort: address.port).map { ", held by \($0)" } ?? ""
        throw StackError(
            "port \(address.port) is taken\(holder); \(program) needs it, or set \(key) to another address"
        )
    }
}
