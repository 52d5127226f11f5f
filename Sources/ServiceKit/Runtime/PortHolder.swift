import FoundationEssentials

/// Who has a port, for the error of a program that can't have it. Blocks while it reads `/proc`.
public enum PortHolder {
    /// The process that listens on a port, as `name (pid 123)`; nil if it belongs to another user or can't be found.
    public static func name(ofPort port: Int) -> String? {
        let inodes = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listeners(in: text($0), port: port) })
        guard !inodes.isEmpty else { return nil }
        let files = FileManager.default
        for process in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(process) != nil {
            let folder = "/proc/\(process)/fd"
            for entry in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
                guard let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(entry)"),
                    inodes.contains(where: { target == "socket:[\($0)]" })
                else { continue }
                let name = text("/proc/\(process)/comm").split(whereSeparator: \.isNewline).first ?? ""
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
