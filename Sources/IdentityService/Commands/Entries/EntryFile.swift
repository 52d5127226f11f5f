import Glibc
import JOSE
import ServiceKit

/// A file of entries, which is replaced as a whole, and only by content without faults.
struct EntryFile: Sendable {
    /// The permissions of a new file: a group of readers can be given to it. It has hashes and names of files, and no secret.
    static let newMode: mode_t = 0o640

    /// Returns the faults of a content, each in a line.
    typealias Judge = (_ content: [UInt8]) -> [String]

    /// The file as the operator named it.
    let path: String
    /// The file itself: where a symbolic link leads to.
    private let target: String
    private let kind: EntryKind

    /// The file at a path, which need not exist if its folder does.
    init(_ path: String, _ kind: EntryKind) throws(CommandError) {
        self.path = path
        self.kind = kind
        target = try Self.target(of: path)
    }

    /// Its entries; none if it isn't there.
    func read() throws(CommandError) -> EntryList {
        guard let content = try content() else { return EntryList(kind) }
        do {
            return try EntryList(parsing: content, kind)
        } catch {
            throw CommandError("\(path) \(error)")
        }
    }

    /// What it holds; nil if it isn't there.
    func content() throws(CommandError) -> [UInt8]? {
        var status = stat()
        guard stat(target, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw CommandError("\(path) \(FileError.lastError("cannot be opened"))")
        }
        // Before it is opened: a pipe would wait for its other end.
        guard status.st_mode & S_IFMT == S_IFREG else { throw CommandError("\(path) is no regular file") }
        do {
            return try FileBytes.read(target, bytesMax: kind.limits.bytesMax)
        } catch {
            throw CommandError("\(path) \(error)")
        }
    }

    /// Changes it under a lock. After an error it is as it was.
    ///
    /// - Parameters:
    ///   - judge: finds the faults of the new content; with any of them nothing is written.
    ///   - change: changes the entries that are there now.
    func change(
        judgedBy judge: Judge,
        _ change: (inout EntryList) throws(CommandError) -> Void
    ) throws(CommandError) {
        do {
            try FileLock.locked(folder: FileBytes.folder(of: target), of: path) {
                var list = try read()
                try change(&list)
                let content = list.serialized
                let faults = judge(content)
                guard faults.isEmpty else { throw CommandError(lines: faults + ["nothing was changed"]) }
                try FileBytes.replace(target, newMode: Self.newMode, with: content)
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError("\(error)", "nothing was changed")
        }
    }

    private static func target(of path: String) throws(CommandError) -> String {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw CommandError("\(path) \(FileError.lastError("cannot be opened"))") }
            return path
        }
        guard status.st_mode & S_IFMT == S_IFLNK else { return path }
        guard let resolved = realpath(path, nil) else {
            throw CommandError("\(path) is a symbolic link that leads nowhere: \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
