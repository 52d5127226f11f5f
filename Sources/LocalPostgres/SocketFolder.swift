import Foundation

/// The folder of the server's unix socket: inside the cluster's folder if the path is short enough, otherwise a new one
/// under `/tmp`.
enum SocketFolder {
    /// A unix address has at most 107 bytes and a zero (`sun_path`, unix(7)); clients append the socket's name to the folder.
    static let pathBytesMax = 99
    private static let prefix = "/tmp/vst-"

    /// Makes the folder, and deletes the one under `/tmp` that an earlier start may have left.
    static func make(in folder: ClusterFolder, port: Int) throws -> String {
        let files = FileManager.default
        if let old = try? String(contentsOfFile: folder.socketRecord, encoding: .utf8), old.hasPrefix(prefix) {
            try? files.removeItem(atPath: old)
            try? files.removeItem(atPath: folder.socketRecord)
        }
        let inside = folder.path + "/run"
        if fits(inside, port: port) {
            if !files.fileExists(atPath: inside) {
                try files.createDirectory(atPath: inside, withIntermediateDirectories: false)
            }
            try folder.user.own(inside, mode: 0o700)
            return inside
        }
        var name = Array((prefix + "XXXXXX").utf8CString)
        guard mkdtemp(&name) != nil else {
            throw LocalPostgresError.system(call: "mkdtemp", path: prefix, errno: errno)
        }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try folder.user.own(path, mode: 0o700)
        try folder.write(path, to: folder.socketRecord)
        return path
    }

    /// Deletes the folder if it is under `/tmp`.
    static func remove(_ path: String, of folder: ClusterFolder) {
        guard path.hasPrefix(prefix), !path.hasPrefix(folder.path) else { return }
        try? FileManager.default.removeItem(atPath: path)
        try? FileManager.default.removeItem(atPath: folder.socketRecord)
    }

    static func fits(_ path: String, port: Int) -> Bool {
        (path + "/.s.PGSQL.\(port)").utf8.count <= pathBytesMax
    }
}
