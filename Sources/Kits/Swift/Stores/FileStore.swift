import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Keeps sessions in files of a folder, which only the user of the process can read: for programs on Linux and macOS.
///
/// A value is written to a file of its own, which is flushed and then takes the old one's name.
public struct FileStore: SessionStore {
    private let folder: URL

    /// A store in a folder, which is made at the first write.
    public init(folder: URL) { self.folder = folder }

    /// The value of a key; nil if there is none.
    public func read(_ key: String) throws -> Data? {
        do {
            return try Data(contentsOf: file(key))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        }
    }

    /// Replaces the value of a key, as a whole.
    public func write(_ value: Data, _ key: String) throws {
        try makeFolder()
        // One name, so that a process that is killed here leaves no more than one file. Writes are under the lock.
        let new = file(key).appendingPathExtension("new")
        do {
            try Self.write(value, to: new)
            guard rename(new.path, file(key).path) == 0 else { throw StoreFailure(errno) }
            Self.flush(folder)
        } catch {
            unlink(new.path)
            throw error
        }
    }

    /// Removes the value of a key.
    public func remove(_ key: String) throws {
        guard unlink(file(key).path) == 0 || errno == ENOENT else { throw StoreFailure(errno) }
        Self.flush(folder)
    }

    /// Does `body` while nobody else holds the lock of a key.
    public func withLock<Result: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try makeFolder()
        let lock = try await FileLock(file(key).deletingPathExtension().appendingPathExtension("lock"))
        defer { lock.free() }
        return try await body()
    }

    private func file(_ key: String) -> URL { folder.appending(path: "\(key).json", directoryHint: .notDirectory) }

    private func makeFolder() throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    private static func write(_ value: Data, to file: URL) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFailure(errno) }
        defer { close(descriptor) }
        var rest = value[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw StoreFailure(errno) }
            rest = rest.dropFirst(max(0, count))
        }
        guard flushed(descriptor) else { throw StoreFailure(errno) }
    }

    /// Has the system write a file to the drive, and the drive to what lasts without power.
    private static func flushed(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        // There `fsync` leaves it in the drive's cache. Not every file system can do more.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Makes a change of names last. A file system that can't do it for folders has done it by itself.
    private static func flush(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = flushed(descriptor)
        close(descriptor)
    }
}

/// The functions that write and read have the names of the store's own.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// What the system said of a file.
struct StoreFailure: Error {
    let code: Int32

    init(_ code: Int32) { self.code = code }
}
