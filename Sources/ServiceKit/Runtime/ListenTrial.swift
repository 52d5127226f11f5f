import Glibc

/// Whether a program could listen on an address. Blocks while a name is looked up.
public enum ListenTrial: Sendable, Hashable {
    /// It could.
    case free
    /// Another process listens there: its name and number, or nil if it is another user's.
    case taken(holder: String?)
    /// The system refuses, with this code.
    case refused(code: Int32)
    /// The host's name has no address.
    case noHost

    /// Tries it, and gives the address back at once.
    public init(_ address: HostPort) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let found else {
            self = .noHost
            return
        }
        defer { freeaddrinfo(found) }
        let entry = found.pointee
        let descriptor = socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), entry.ai_protocol)
        guard descriptor >= 0 else {
            self = .refused(code: errno)
            return
        }
        defer { close(descriptor) }
        // Only a listener is an obstacle, not connections of an earlier run in TIME_WAIT.
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        if bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 {
            self = .free
            return
        }
        let code = errno
        self = code == EADDRINUSE ? .taken(holder: PortHolder.name(ofPort: address.port)) : .refused(code: code)
    }
}
