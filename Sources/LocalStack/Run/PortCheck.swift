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
        let holder = holder(ofPort: address.port).map { ", held by \($0)" } ?? ""
        throw StackError(
            "port \(address.port) is taken\(holder); \(program) needs it, or set \(key) to another address"
        )
    }

    /// The process that listens on a port, as `name (pid 123)`; nil if it belongs to another user or can't be found.
    static func holder(ofPort port: Int) -> String? {
        let inodes = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listeners(in: text($0), port: port) })
        guard !inodes.isEmpty else { return nil }
        let files = FileManager.default
        for process in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(process) != nil {
            let folder = "/proc/\(process)/fd"
            for entry in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
                guard let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(entry)"),
                    inodes.contains(where: { target == "socket:[\($0)]" })
                else { continue }
                let name = text("/proc/\(process)/comm").trimmingCharacters(in: .whitespacesAndNewlines)
                return "\(name) (pid \(process))"
            }
        }
        return nil
    }

    /// The numbers of the sockets that listen (state 0A) on a port, from the text of `/proc/net/tcp` (proc(5)).
    static func listeners(in table: String, port: Int) -> [String] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let hex = fields[1].split(separator: ":").last,
                Int(hex, radix: 16) == port
            else { return nil }
            return String(fields[9])
        }
    }

    // Files of /proc have no size, so they are read to their end.
    private static func text(_ path: String) -> String {
        (try? FileBytes.read(path, bytesMax: 16 << 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
