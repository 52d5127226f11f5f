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
    /// The bytes of a regular file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - bytesMax: a longer file is refused.
    public static func read(_ path: String, bytesMax: Int) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastError("cannot be opened") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .lastError("cannot be read") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMax else { throw FileError("is longer than \(bytesMax) bytes") }
        }
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

    private static func named(_ path: String, _ fault: FileError) -> FileError { FileError("\(path) \(fault)") }
}
