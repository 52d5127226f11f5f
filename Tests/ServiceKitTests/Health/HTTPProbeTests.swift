import Dispatch
import Glibc
import ServiceKit
import Synchronization
import Testing

struct HTTPProbeTests {
    /// A listening socket on a port that the system chose.
    private func listener() throws -> (descriptor: Int32, address: HostPort) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try #require(bind(descriptor, pointer, size) == 0 && listen(descriptor, 1) == 0)
                try #require(getsockname(descriptor, pointer, &size) == 0)
            }
            return Int(UInt16(bigEndian: pointer.pointee.sin_port))
        }
        return (descriptor, HostPort(host: "127.0.0.1", port: port))
    }

    /// The probe's result for an answer. A separate thread serves one connection; the probe limits its own time.
    private func status(answer: String) throws -> Int? {
        let (descriptor, address) = try listener()
        defer { close(descriptor) }
        let isPlain = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            let connection = accept(descriptor, nil, nil)
            var request = [UInt8](repeating: 0, count: 4096)
            let count = read(connection, &request, request.count)
            let text = String(decoding: request.prefix(max(0, count)), as: UTF8.self)
            isPlain.withLock { $0 = text.hasPrefix("GET /readyz HTTP/1.1\r\nHost: \(address)\r\n") }
            let bytes = Array(answer.utf8)
            _ = write(connection, bytes, bytes.count)
            close(connection)
            done.signal()
        }
        let status = HTTPProbe.status(address: address, path: "/readyz", timeoutMilliseconds: 2000)
        try #require(done.wait(timeout: .now() + 5) == .success)
        #expect(isPlain.withLock { $0 })
        return status
    }

    @Test(arguments: [("200 OK", 200), ("503 Service Unavailable", 503)])
    func `Reads the status`(_ line: String, _ status: Int) throws {
        #expect(try self.status(answer: "HTTP/1.1 \(line)\r\ncontent-length: 0\r\n\r\n") == status)
    }

    @Test(arguments: ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 2", ""])
    func `An answer that isn't HTTP, or is cut, has no status`(_ answer: String) throws {
        #expect(try status(answer: answer) == nil)
    }

    @Test func `A closed port has no status, and a server that doesn't answer has none in time`() throws {
        let (descriptor, address) = try listener()
        let start = ContinuousClock.now
        #expect(HTTPProbe.status(address: address, path: "/", timeoutMilliseconds: 50) == nil)
        #expect(ContinuousClock.now - start < .seconds(2))
        close(descriptor)
        #expect(HTTPProbe.status(address: address, path: "/", timeoutMilliseconds: 50) == nil)
    }
}
