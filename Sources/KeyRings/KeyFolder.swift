import Glibc
import ServiceKit

/// A folder with a file for each kind of keys, `signing.json` and so on: identity's own keys, or a service's keys, which are
/// derived from identity's.
///
/// A file is only replaced as a whole, by rename: a reader sees all of a change or nothing of it, even after the writer was
/// killed. So mount the folder into a container, and not the file: a mounted file would stay the old one.
public struct KeyFolder: Sendable {
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
        try FileLock.locked(file: "\(path)/.lock", of: path, body)
    }

    /// Replaces a kind's file: writes a new file beside it, syncs it to the disk, renames it, and syncs the folder before it
    /// returns. Call it under ``locked(_:)`` of identity's folder.
    ///
    /// - Parameter mode: the file's permissions; nil to keep the current ones.
    func replace(_ kind: KeyKind, with ring: KeyRing, mode: mode_t? = nil) throws(FileError) {
        try FileBytes.replace(file(kind), mode: mode, with: ring.serialized)
    }
}
