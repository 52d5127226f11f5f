import Glibc

/// The room on the disk of a folder.
public struct DiskSpace: Sendable, Hashable {
    /// Bytes that this user may still write.
    let freeBytes: UInt64
    /// Bytes of the disk.
    let allBytes: UInt64

    /// The disk of a folder; nil if there is no such folder.
    public init?(folder: String) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        freeBytes = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        allBytes = UInt64(status.f_blocks) * UInt64(status.f_frsize)
    }

    init(freeBytes: UInt64, allBytes: UInt64) {
        self.freeBytes = freeBytes
        self.allBytes = allBytes
    }

    /// Less than this is a failure: the next WAL files don't fit.
    private static let least: UInt64 = 100_000_000
    /// Less than this, and than a tenth of the disk, is a warning.
    private static let enough: UInt64 = 1_000_000_000

    /// What is wrong with it.
    public func finding(_ key: String, _ folder: String) -> Finding? {
        guard freeBytes < Self.enough, freeBytes < Self.least || freeBytes < allBytes / 10 else { return nil }
        return Finding(
            freeBytes < Self.least ? .failure : .warning,
            key,
            "names \(folder), on whose disk \(freeBytes / 1_000_000) MB are free",
            mend: "make room there, or name a folder of another disk"
        )
    }
}
