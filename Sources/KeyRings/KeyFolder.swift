import Glibc
import ServiceKit

/// A folder with a file for each kind of keys, `signing.json` and so on: identity's own keys, or a service's keys, which are
/// derived from identity's.
///
/// A file is only replaced as a whole, by rename: a reader sees all of a change or nothing of it, even after the writer was
/// killed. So mount the folder into a container, and not the file: a mounted file would stay the old one.
public struct KeyFolder: Sendable {
    /// How often a run tries to lock the folder while another run changes it.
    static let lockTries = 50
    private static let lockPauseMicroseconds: UInt32 = 100_000

    /// The folder.
    public let path: String

    /// A folder, which need not exist yet.
    public init(path: String) { self.path = path }

    /// The file of a kind.
    public func file(_ kind: KeyKind) -> String { "\(path)/\(kind.name).json" }

    /// The keys of a kind; nil if there is no file of it.
    ///
    /// - Parameter service: the service that the keys are derived for; nil for identity's own.
    /// - Throws: `FileError`, which names the file's path.
    public func read(_ kind: KeyKind, of service: String? = nil) throws(FileError) -> KeyRing? {
        let file = file(kind)
        if access(file, F_OK) != 0, errno == ENOENT { return nil }
        do {
            let bytes = try FileBytes.read(file, bytesMax: KeyRing.bytesMax)
            return try KeyRing(kind: kind.name, service: service, parsing: bytes)
        } catch {
            throw FileError("\(file) \(error.description)")
        }
    }

    /// Runs the body while no other process changes the folder.
    ///
    /// - Throws: `FileError` if another process changes it for five seconds, and the errors of the body.
    func locked<Outcome>(_ body: () throws -> Outcome) throws -> Outcome {
        let file = "\(path)/.lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileError.lastError("\(file) cannot be made") }
        defer { close(descriptor) }
        var triesLeft = Self.lockTries
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw FileError.lastError("\(file) cannot be locked") }
            triesLeft -= 1
            guard triesLeft > 0 else { throw FileError("\(path) is being changed by another run; try again") }
            usleep(Self.lockPauseMicroseconds)
        }
        return try body()
    }

    /// Replaces a kind's file: writes a new file beside it, syncs it to the disk, renames it, and syncs the folder before it
    /// returns. Call it under ``locked(_:)`` of identity's folder.
    ///
    /// - Parameter mode: the file's permissions; nil to keep the current ones.
    func replace(_ kind: KeyKind, with ring: KeyRing, mode: mode_t? = nil) throws(FileError) {
        try replace(file(kind), with: ring.serialized, mode: mode)
    }

    private func replace(_ file: String, with bytes: [UInt8], mode: mode_t?) throws(FileError) {
        var status = stat()
        let isThere = stat(file, &status) == 0
        let mode = mode ?? (isThere ? status.st_mode & 0o777 : 0o600)
        // A killed run may have left a file with this name; it is not needed.
        let unfinished = file + ".new"
        unlink(unfinished)
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .lastError("\(unfinished) cannot be made") }
        // The same users can read the new file as the old one, even if root rotates. The owner is set before the permissions,
        // since a change of the owner may reset them.
        let isTheirs = !isThere || Self.isGiven(descriptor, to: status) || mode & S_IROTH != 0
        let isWritten =
            isTheirs && write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, mode) == 0
            && fsync(descriptor) == 0
        let fault = FileError.lastError(
            isTheirs ? "\(unfinished) cannot be written" : "\(file) cannot stay with its owner and group"
        )
        guard close(descriptor) == 0, isWritten else {
            unlink(unfinished)
            throw fault
        }
        guard rename(unfinished, file) == 0 else { throw .lastError("\(file) cannot be replaced") }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .lastError("\(path) cannot be opened") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .lastError("\(path) cannot be written") }
    }

    /// Gives a new file the owner and the group of the file that it replaces; false if it can't.
    private static func isGiven(_ descriptor: Int32, to status: stat) -> Bool {
        var own = stat()
        guard fstat(descriptor, &own) == 0 else { return false }
        if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid) { return true }
        return fchown(descriptor, status.st_uid, status.st_gid) == 0
    }
}
