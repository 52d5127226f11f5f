import Foundation

/// The folder of a cluster on disk: a marker that we made it, a lock that one process holds, the data, the
/// configuration, the log and (if the path is short enough) the socket.
struct ClusterFolder: Sendable {
    /// Absolute and without symbolic links.
    let path: String
    let user: ServerUser
    /// Holds the lock while it is open.
    let lockDescriptor: Int32

    var data: String { path + "/data" }
    var log: String { path + "/server.log" }
    var configuration: String { path + "/postgresql.conf" }
    var hostAccess: String { path + "/pg_hba.conf" }
    var userMap: String { path + "/pg_ident.conf" }
    /// A file with the path of the socket's folder if that is elsewhere, so that a later start can delete it.
    var socketRecord: String { path + "/socket-folder" }

    private static let marker = "vestibule-cluster"
    private static let lockName = "lock"
    /// The parent of the data's folder if the server's user can't reach the given one (a clone under `/root`).
    private static let reachableRoot = "/var/lib/vestibule-postgres"

    /// Opens the folder, after making it if it is missing, and takes its lock.
    static func open(_ wanted: String, user: ServerUser) throws -> ClusterFolder {
        let files = FileManager.default
        let wanted = absolute(wanted)
        if let target = try? files.destinationOfSymbolicLink(atPath: wanted), !files.fileExists(atPath: target) {
            try files.removeItem(atPath: wanted)  // Its data was removed; start over.
        }
        if !files.fileExists(atPath: wanted) {
            try files.createDirectory(atPath: wanted, withIntermediateDirectories: true)
        }
        let contents = try files.contentsOfDirectory(atPath: wanted)
        // The lock is taken before the marker is written, so that no process takes a new cluster for an abandoned one.
        let isNew = contents.isEmpty || contents == [lockName]
        guard isNew || contents.contains(marker) else { throw LocalPostgresError.foreignFolder(wanted) }
        if contents.isEmpty {
            try user.own(wanted, mode: 0o700)
            if !user.canEnter(wanted) { try relocate(wanted, user: user) }
        }
        let path = try realPath(wanted)
        guard let lock = try lock(path) else { throw LocalPostgresError.alreadyRunning(wanted) }
        do {
            try Data("1\n".utf8).write(to: URL(fileURLWithPath: path + "/" + marker))
        } catch {
            close(lock)
            throw error
        }
        return ClusterFolder(path: path, user: user, lockDescriptor: lock)
    }

    /// Whether the folder is one of ours that no running process holds.
    static func isAbandoned(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path + "/" + marker) else { return false }
        guard let descriptor = try? lock(path) else { return false }
        close(descriptor)
        return true
    }

    /// Deletes the whole folder, and the target of a link.
    static func remove(_ wanted: String) throws {
        let files = FileManager.default
        let wanted = absolute(wanted)
        guard files.fileExists(atPath: wanted) else {
            if (try? files.destinationOfSymbolicLink(atPath: wanted)) != nil { try files.removeItem(atPath: wanted) }
            return
        }
        let path = try realPath(wanted)
        guard files.fileExists(atPath: path + "/" + marker) else { throw LocalPostgresError.foreignFolder(wanted) }
        guard let descriptor = try lock(path) else { throw LocalPostgresError.alreadyRunning(wanted) }
        defer { close(descriptor) }
        try files.removeItem(atPath: path)
        if path != wanted { try? files.removeItem(atPath: wanted) }
    }

    /// The major version that the data belongs to, nil before the first start.
    var majorVersion: Int? {
        guard let text = try? String(contentsOfFile: data + "/PG_VERSION", encoding: .utf8) else { return nil }
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Writes a file that the server's user can read.
    func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try user.own(path, mode: 0o600)
    }

    /// The last lines of the server's log, for an error message.
    func logTail(lineCount: Int = 6) -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(lineCount).joined(separator: " | ")
    }

    private static func relocate(_ wanted: String, user: ServerUser) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: reachableRoot, withIntermediateDirectories: true)
        chmod(reachableRoot, 0o711)
        var name = Array((reachableRoot + "/XXXXXX").utf8CString)
        guard mkdtemp(&name) != nil else {
            throw LocalPostgresError.system(call: "mkdtemp", path: reachableRoot, errno: errno)
        }
        let target = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try user.own(target, mode: 0o700)
        try files.removeItem(atPath: wanted)
        try files.createSymbolicLink(atPath: wanted, withDestinationPath: target)
    }

    /// The lock's descriptor; nil if another process holds the lock.
    private static func lock(_ path: String) throws(LocalPostgresError) -> Int32? {
        let name = path + "/" + lockName
        let descriptor = Foundation.open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(call: "open", path: name, errno: errno) }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    private static func realPath(_ path: String) throws(LocalPostgresError) -> String {
        guard let resolved = realpath(path, nil) else { throw .system(call: "realpath", path: path, errno: errno) }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
