import Glibc
import TestWaits
import Testing

@testable import ServiceKit

struct MetricsServerTests {
    private let loopback = HostPort(host: "127.0.0.1", port: 0)

    private func serving(_ body: (MetricsServer) async throws -> Void) async throws {
        let registry = MetricsRegistry()
        registry.add(CounterFamily("vestibule_test_total", help: "Tests."))
        let server = try MetricsServer(address: loopback, registry: registry)
        let result: Result<Void, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        await server.stop()
        try result.get()
    }

    private func status(_ server: MetricsServer, _ path: String = "/metrics") -> Int? {
        let address = HostPort(host: "127.0.0.1", port: server.port)
        return HTTPProbe.status(address: address, path: path, timeoutMilliseconds: 3000)
    }

    /// A connection that has sent nothing yet.
    private func connect(_ server: MetricsServer) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(server.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        try #require(outcome == 0)
        return descriptor
    }

    @Test func `Serves requests repeatedly, and only metrics`() async throws {
        try await serving { server in
            for _ in 0..<50 { #expect(status(server) == 200) }
            #expect(status(server, "/") == 404)
        }
    }

    @Test func `Silent connections block no others, while there is room`() async throws {
        try await serving { server in
            var silent: [Int32] = []
            for _ in 0..<MetricsServer.connectionsMax - 1 { silent.append(try connect(server)) }
            #expect(status(server) == 200)
            // Beyond the maximum a request waits until a silent connection is closed.
            silent.append(try connect(server))
            close(silent.removeFirst())
            #expect(status(server) == 200)
            for descriptor in silent { close(descriptor) }
        }
    }

    @Test func `An address in use, and an invalid one, are reported with the reason`() async throws {
        try await serving { server in
            let taken = HostPort(host: "127.0.0.1", port: server.port)
            do {
                await (try MetricsServer(address: taken, registry: MetricsRegistry())).stop()
                Issue.record("the address was given twice")
            } catch {
                #expect("\(error)".contains("\(taken): it is in use by "))
                #expect("\(error)".contains("(pid \(getpid()))"))
            }
        }
        #expect(throws: MetricsListenError.self) {
            _ = try MetricsServer(address: HostPort(host: "no.such.host", port: 1), registry: MetricsRegistry())
        }
    }

    @Test func `After it stopped the port is free again`() async throws {
        let first = try MetricsServer(address: loopback, registry: MetricsRegistry())
        let port = first.port
        await first.stop()
        let second = try MetricsServer(address: HostPort(host: "127.0.0.1", port: port), registry: MetricsRegistry())
        #expect(second.port == port)
        await second.stop()
    }

    @Test func `A server that is released without a stop ends too`() async throws {
        let port = try MetricsServer(address: loopback, registry: MetricsRegistry()).port
        let address = HostPort(host: "127.0.0.1", port: port)
        try await eventually { (try? MetricsServer(address: address, registry: MetricsRegistry())) != nil }
    }
}
