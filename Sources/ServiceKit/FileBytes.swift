import Glibc

/// Why a file could not be read or written, in words that follow its path.
public struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public let description: String

    /// A reason in words.
    public init(_ description: String) { self.description = description }

    /// The reason of the last failed system call, behind what failed.
    public static func lastError(_ operation: String) -> FileError {
        FileError("\(operation): \(String(cString: strerror(errno)))")
    }
}

/// Reads and makes small files without Foundation, which would cost each process megabytes.
public enum FileBytes {
    /// For how long a pipe in the place of a file, as a shell's `<(command)` is one, may give nothing.
    private static let pipeSilenceMilliseconds: Int32 = 5_000

    /// The bytes of a file, or of a pipe to its end.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: a longer file is refused.
    public static func read(_ path: String, bytesMax: Int) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .lastError("cannot be opened") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            // A file is always ready.
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let found = poll(&ready, 1, pipeSilenceMilliseconds)
            if found < 0 && errno == EINTR { continue }
            guard found != 0 else { throw FileError("is a pipe that nothing is written to") }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count >= 0 else { throw .lastError("cannot be read") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMax else { throw FileError("is longer than \(bytesMax) bytes") }
        }
    }

    /// Whether a path is that of a pipe, which can be read once, and blocks until somebody writes to it.
    static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// The names of what is in a folder, sorted, without `.` and `..`.
    public static func names(inFolder path: String) throws(FileError) -> [String] {
        guard let stream = opendir(path) else { throw .lastError("cannot be read") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a file, whole or not at all; one that is there stays as it is. What an attempt that was cut left behind, the
    /// name with `.new` after it, goes. One process at a time.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - mode: its permissions, whatever the umask.
    ///   - content: what it holds; called only if the file isn't there.
    /// - Returns: whether it was made.
    public static func create(_ path: String, mode: mode_t, _ content: () throws -> [UInt8]) throws -> Bool {
        if access(path, F_OK) == 0 { return false }
        let bytes = try content()
        let unfinished = path + ".new"
        unlink(unfinished)
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw named(path, .lastError("cannot be made")) }
        let isWritten =
            write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, mode) == 0
            && fsync(descriptor) == 0
        let fault = FileError.lastError("cannot be written")
        close(descriptor)
        defer { unlink(unfinished) }
        guard isWritten else { throw named(path, fault) }
        // Unlike rename, link never takes another file's place.
        if link(unfinished, path) == 0 { return true }
        guard errno == EEXIST else { throw named(path, .lastError("cannot be made")) }
        return false
    }

    /// Writes a file anew where it is, so that a container into which this one file is mounted sees it. Until it is done a
    /// reader may see a part; one that was cut is mended by the next.
    ///
    /// - Parameters:
    ///   - path: a file that is there, and this user's.
    ///   - mode: its permissions, whatever the umask.
    public static func rewrite(_ path: String, mode: mode_t, _ bytes: [UInt8]) throws(FileError) {
        guard chmod(path, mode | S_IWUSR) == 0 else { throw named(path, .lastError("cannot be written")) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw named(path, .lastError("cannot be written")) }
        defer { close(descriptor) }
        // Cut after, not before: where the disk is full, what is there is written over without needing more of it.
        guard write(descriptor, bytes, bytes.count) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0,
            fchmod(descriptor, mode) == 0, fsync(descriptor) == 0
        else { throw named(path, .lastError("cannot be written")) }
    }

    /// Replaces a file as a whole, or makes it: writes a new file beside it (its name and `.new`), syncs it to the disk, renames it
    /// and syncs the folder. A reader sees all of the change or nothing of it, even after this process was killed. One process at a
    /// time: see ``FileLock``.
    ///
    /// - Parameters:
    ///   - path: the file. A symbolic link would be replaced by a file.
    ///   - mode: its permissions, whatever the umask; nil to keep those that it has.
    ///   - newMode: its permissions if it isn't there and `mode` is nil.
    /// - Throws: `FileError`, which names the path; then the file is as it was, unless only the last sync failed.
    public static func replace(
        _ path: String,
        mode: mode_t? = nil,
        newMode: mode_t = 0o600,
        with bytes: [UInt8]
    ) throws(FileError) {
        var status = stat()
        let isThere = stat(path, &status) == 0
        let mode = mode ?? (isThere ? status.st_mode & 0o777 : newMode)
        // A killed run may have left a file with this name; it is not needed.
        let unfinished = path + ".new"
        unlink(unfinished)
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw named(unfinished, .lastError("cannot be made")) }
        // The same users can read the new file as the old one, even if root writes it. The owner is set before the permissions, since a
        // change of the owner may reset them.
        let isTheirs = !isThere || isGiven(descriptor, to: status) || mode & S_IROTH != 0
        let isWritten =
            isTheirs && writeAll(descriptor, bytes) && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let fault =
            isTheirs
            ? named(unfinished, .lastError("cannot be written"))
            : named(path, .lastError("cannot stay with its owner and group"))
        guard close(descriptor) == 0, isWritten else {
            unlink(unfinished)
            throw fault
        }
        guard rename(unfinished, path) == 0 else {
            // A file that is mounted by itself can't be replaced by another.
            let hint = errno == EBUSY ? " (if it is mounted by itself: mount its folder)" : ""
            let fault = named(path, FileError(FileError.lastError("cannot be replaced").description + hint))
            unlink(unfinished)
            throw fault
        }
        try syncFolder(of: path)
    }

    /// Gives a new file the owner and the group of the file that it replaces; false if it can't.
    private static func isGiven(_ descriptor: Int32, to status: stat) -> Bool {
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { return false }
        if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid) { return true }
        return fchown(descriptor, status.st_uid, status.st_gid) == 0
    }

    private static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func syncFolder(of path: String) throws(FileError) {
        let name = folder(of: path)
        let folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw named(name, .lastError("cannot be opened")) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw named(name, .lastError("cannot be written")) }
    }

    /// Removes a file, if it is there.
    public static func remove(_ path: String) { unlink(path) }

    /// The folder of a file, as its path says it.
    public static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func named(_ path: String, _ fault: FileError) -> FileError { FileError("\(path) \(fault)") }
}
