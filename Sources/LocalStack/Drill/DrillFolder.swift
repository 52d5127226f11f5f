import Backup
import FoundationEssentials
import Glibc
import ServiceKit

/// The folder of a drill: a local stack of its own, its backups, and a record that a drill made it.
struct DrillFolder: Sendable {
    private static let recordName = "made-by-vestibule-drill"
    /// An account needs some 1.6 kB in the database and in the log, which is there twice at times.
    private static let bytesPerAccount = 6_000
    private static let bytesAtLeast = 1 << 30

    let stack: StackFolder
    /// Files that are deleted with the folder.
    var work: String { stack.path + "/work" }
    var backups: BackupFolder { BackupFolder(path: stack.backups) }
    private var record: String { "\(stack.path)/\(Self.recordName)" }

    /// Makes the folder, or empties what an earlier drill left. Any other folder that isn't empty is refused, and left alone.
    func make() throws {
        if access(stack.path, F_OK) == 0 {
            let names = try FileBytes.names(inFolder: stack.path)
            guard names.isEmpty || names.contains(Self.recordName) else {
                throw StackError("\(stack.path) is not empty, and no drill made it; name another folder")
            }
            try remove()
        }
        guard mkdir(stack.path, 0o755) == 0 || errno == EEXIST else {
            throw FileError.lastError("\(stack.path) cannot be made")
        }
        guard try FileBytes.create(record, mode: 0o600, { [] }) else { throw StackError("\(record) exists") }
        guard mkdir(work, 0o700) == 0 else { throw FileError.lastError("\(work) cannot be made") }
    }

    /// Throws if the disk has less space than so many accounts need.
    func requireSpace(accounts: Int) throws {
        var status = statvfs()
        guard statvfs(stack.path, &status) == 0 else { throw FileError.lastError("\(stack.path)") }
        let free = Int(status.f_bavail) * Int(status.f_frsize)
        let needed = Self.bytesAtLeast + accounts * Self.bytesPerAccount
        guard free >= needed else {
            throw StackError(
                "the disk of \(stack.path) has \(free >> 20) MiB free, and \(accounts) accounts need \(needed >> 20) MiB"
            )
        }
    }

    /// Deletes it, with all that a drill made in it. Throws while another drill uses it.
    func remove() throws {
        try stack.clean()
        for folder in [stack.backups, work] where access(folder, F_OK) == 0 {
            try FileManager.default.removeItem(atPath: folder)
        }
        unlink(record)
        // It stays if somebody put other files there.
        rmdir(stack.path)
    }
}
