import Dispatch
import Glibc
import Synchronization

/// Serves `GET /metrics` over HTTP/1.1, an answer a connection, on a thread of its own: the process can be looked at also
/// when its event loops are stuck. For a port that only the operator's Prometheus reaches.
public final class MetricsServer: Sendable {
    /// Most connections at once; others wait in the kernel.
    public static let connectionsMax = 16
    /// How long a connection may last, its answer included.
    public static let connectionTimeout: Duration = .seconds(5)
    /// Connections that wait in the kernel.
    static let backlog: Int32 = 64

    /// The port that it listens on.
    public let port: Int
    /// The end of a pipe whose other end the thread waits at.
    private let stopping: Int32
    private let thread: Mutex<pthread_t?>

    /// Listens and begins to serve. Throws `MetricsListenError`.
    ///
    /// - Parameter address: digits, or a name of one of this machine's addresses, which says on which of its networks the
    ///   metrics are served; it is looked up here, which blocks. Port 0 lets the system choose.
    public init(address: HostPort, registry: MetricsRegistry) throws(MetricsListenError) {
        let listening = try Self.listen(address)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            let error = MetricsListenError.last(address)
            close(listening)
            throw error
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        port = Self.port(of: listening)
        stopping = ends[1]
        let loop = MetricsServerLoop(listening: listening, stopping: ends[0]) { registry.text }
        let start = Unmanaged.passRetained(loop)
        var thread = pthread_t()
        let failure = pthread_create(&thread, nil, runMetricsServer, start.toOpaque())
        self.thread = Mutex(failure == 0 ? thread : nil)
        guard failure == 0 else {
            start.release()
            for descriptor in [listening] + ends { close(descriptor) }
            throw MetricsListenError(address: address, reason: String(cString: strerror(failure)))
        }
    }

    deinit {
        // Without `stop` the thread ends by itself: its end of the pipe has lost the other.
        if let thread = thread.withLock({ $0 }) { pthread_detach(thread) }
        close(stopping)
    }

    /// Closes everything, and returns when the thread has ended. A server that is let go without it ends soon after.
    public func stop() async {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let thread else { return }
        var one: UInt8 = 1
        _ = write(stopping, &one, 1)
        await withCheckedContinuation { continuation in
            // Joining blocks, which tasks of the global executor must not.
            DispatchQueue.global().async {
                pthread_join(thread, nil)
                continuation.resume()
            }
        }
    }

    private static func listen(_ address: HostPort) throws(MetricsListenError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = Int32(AI_PASSIVE)
        var found: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(address.host, "\(address.port)", &hints, &found)
        guard failure == 0, let found else {
            throw MetricsListenError(address: address, reason: String(cString: gai_strerror(failure)))
        }
        defer { freeaddrinfo(found) }
        let entry = found.pointee
        let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(entry.ai_family, entry.ai_socktype | flags, entry.ai_protocol)
        guard descriptor >= 0 else { throw .last(address) }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, Glibc.listen(descriptor, backlog) == 0 else {
            let error = MetricsListenError.last(address)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func port(of descriptor: Int32) -> Int {
        var storage = sockaddr_in6()  // the port is at the same place for IPv4
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: storage.sin6_port))
    }
}

extension MetricsListenError {
    /// The reason of the last failed system call.
    fileprivate static func last(_ address: HostPort) -> MetricsListenError {
        let code = errno
        let reason = code == EADDRINUSE ? ListenFault.taken(address) : String(cString: strerror(code))
        return MetricsListenError(address: address, reason: reason)
    }
}

private func runMetricsServer(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<MetricsServerLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
