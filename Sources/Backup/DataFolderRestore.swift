import FoundationEssentials
import Glibc
import ServiceKit

/// Makes a data folder of PostgreSQL from a backup. The server that is started on it replays the log, up to a time or its end, and then
/// accepts connections on a new timeline. All that it needs is in the folder.
public struct DataFolderRestore: Sendable {
    /// Where the log lies in the data folder until it was replayed.
    private static let log = "restored_wal"
    private static let settingNames = ["recovery_", "restore_command", "hot_standby"]
    /// SQL that resets what a restore has set; one statement each. It takes a superuser, and isn't urgent: without `recovery.signal` none
    /// of it counts.
    public static let resettingSettings = [
        "restore_command", "recovery_end_command", "recovery_target_timeline", "recovery_target_action",
        "recovery_target_time", "hot_standby",
    ].map { "ALTER SYSTEM RESET \($0)" }

    private let folder: BackupFolder
    private let backup: BackupRecord
    private let time: Date?

    /// Chooses a backup: that of a name, or the newest that was complete at the time; nothing is written.
    ///
    /// - Parameter time: the last commits that are restored; nil for all that was received.
    public init(from folder: BackupFolder, backup name: String?, to time: Date?) throws {
        self.folder = folder
        self.time = time
        backup = try folder.backup(named: name, endedBy: time)
        if let time, time < backup.endedAt {
            throw BackupError("the backup \(backup.name) is of a later time than \(time.formatted(.iso8601))")
        }
    }

    /// The backup.
    public var record: BackupRecord { backup }

    /// The major version of the server that can read the folder.
    public var majorVersion: Int { backup.majorVersion }

    /// Writes the data folder, which must be empty, and compares each file with the checksum that the server gave it. Blocks.
    public func write(to data: String) throws {
        let base = folder.base(backup.name)
        try unpack("\(base)/base.tar.gz", into: data)
        try unpack("\(base)/pg_wal.tar.gz", into: "\(data)/pg_wal")
        try PostgresTool.find("pg_verifybackup", majorVersion: backup.majorVersion).run(
            ["--exit-on-error", "--quiet", "--no-parse-wal", "--manifest-path=\(base)/backup_manifest", data]
        )
        try copyLog(to: "\(data)/\(Self.log)")
        try appendSettings(to: "\(data)/postgresql.auto.conf")
        guard try FileBytes.create("\(data)/recovery.signal", mode: 0o600, { [] }) else {
            throw BackupError("\(data)/recovery.signal exists")
        }
    }

    /// Writes the data folder of a server of this machine; it must be missing or empty, and belongs to this user then.
    public func write(toEmptyFolder data: String) throws {
        guard mkdir(data, 0o700) == 0 || errno == EEXIST else { throw FileError.lastError("\(data) cannot be made") }
        guard try FileBytes.names(inFolder: data).isEmpty else { throw BackupError("\(data) is not empty") }
        guard chmod(data, 0o700) == 0 else { throw FileError.lastError("\(data) cannot be closed to other users") }
        try write(to: data)
    }

    private func unpack(_ archive: String, into folder: String) throws {
        try PostgresTool(path: "/bin/tar").run(
            ["--extract", "--gzip", "--file=\(archive)", "--directory=\(folder)", "--no-same-owner"]
        )
    }

    /// Copies what may follow the backup, of all chains; of two copies of a segment the complete one.
    private func copyLog(to log: String) throws {
        guard mkdir(log, 0o700) == 0 else { throw FileError.lastError("\(log) cannot be made") }
        for chain in try folder.chainNames() {
            let files = try FileBytes.names(inFolder: folder.chain(chain)).compactMap(WALFile.init)
            for file in files where !file.isOlder(than: backup.firstSegment) {
                let target = "\(log)/\(file.wantedName)"
                if file.kind == .partial, access(target, F_OK) == 0 { continue }
                if access(target, F_OK) == 0 { try FileManager.default.removeItem(atPath: target) }
                try FileManager.default.copyItem(atPath: "\(folder.chain(chain))/\(file.name)", toPath: target)
            }
        }
    }

    /// Settings of a recovery (PostgreSQL manual, "Archive Recovery"); they count only beside `recovery.signal`. Of two settings of a
    /// name the last one counts.
    private func appendSettings(to path: String) throws {
        var settings = [
            "restore_command = 'cp \"\(Self.log)/%f\" \"%p\"'",
            "recovery_end_command = 'rm -r \(Self.log)'",
            "recovery_target_timeline = 'latest'",
            "recovery_target_action = 'promote'",
            // No connection is accepted before all is replayed.
            "hot_standby = 'off'",
        ]
        if let time {
            // PostgreSQL reads no `Z` here: time zones' names aren't loaded yet.
            let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, includingFractionalSeconds: true)
            settings.append("recovery_target_time = '\(time.formatted(style).dropLast())+00'")
        }
        let before =
            access(path, F_OK) == 0 ? String(decoding: try FileBytes.read(path, bytesMax: 1 << 20), as: UTF8.self) : ""
        // Those of an earlier restore go.
        let others = before.split(separator: "\n").filter { line in
            !Self.settingNames.contains { line.hasPrefix($0) }
        }
        let text = (others.map(String.init) + settings).map { "\($0)\n" }.joined()
        try FileBytes.replace(path, mode: 0o600, with: Array(text.utf8))
    }
}
