import Foundation
import ServiceKit
import Testing

@testable import LocalStack

struct PortCheckTests {
    @Test func `Names the port, the process that holds it, the program and the key; a free port is fine`() throws {
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
        let place = HostPort(host: "127.0.0.1", port: port)
        let error = #expect(throws: StackError.self) {
            try PortCheck.requireFree(place, for: "gateway", key: "VESTIBULE_GATEWAY_LISTEN")
        }
        let line = try #require(error?.description)
        #expect(line.hasPrefix("port \(port) is taken, held by "))
        #expect(line.contains("(pid \(getpid()))"))
        #expect(line.hasSuffix("; gateway needs it, or set VESTIBULE_GATEWAY_LISTEN to another address"))
        close(descriptor)
        try retrying { try PortCheck.requireFree(place, for: "gateway", key: "VESTIBULE_GATEWAY_LISTEN") }
    }

    @Test func `An address that isn't ours is a fault of its own`() {
        let error = #expect(throws: StackError.self) {
            try PortCheck.requireFree(HostPort(host: "192.0.2.1", port: 80), for: "gateway", key: "KEY")
        }
        #expect(error?.description.contains("cannot listen on 192.0.2.1:80") == true)
    }
}
