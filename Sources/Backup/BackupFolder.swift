import FoundationEssentials
import Glibc
import ServiceKit

/// The folder of backups.
///
/// ```
/// base/20261128T055000Z/     a whole backup: base.tar.gz, pg_wal.tar.gz, backup_manifest, backup.json
/// wal/20261128T055000Z/      the write-ahead log, streamed without a gap since that time; chain.json
/// secrets/20261128T055000Z.tar.cms   keys and configuration, sealed
/// deleted-accounts.log       ids of deleted accounts, which a restore deletes again
/// ```
public struct BackupFolder: Sendable, Hashable {
    /// The folder.
    public let path: String

    /// A folder, which need not exist yet.
    public init(path: String) { self.path = path }

    var bases: String { path + "/base" }
    var chains: String { path + "/wal" }
    var secrets: String { path + "/secrets" }
    /// The log of deleted accounts.
    public var deletedAccounts: String { path + "/deleted-accounts.log" }
    var lock: String { path + "/lock" }

    private static let unfinished = ".unfinished"
    /// How long a whole backup may take, in seconds.
    private static let makingSecondsMax = 2 * 86_400.0

    /// Makes the folders, which only their owner may enter.
    func make() throws {
        for folder in [path, bases, chains, secrets] {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                throw FileError.lastError("\(folder) cannot be made")
            }
        }
    }

    /// The complete backups, the oldest first.
    public func backups() throws -> [BackupRecord] {
        guard access(bases, F_OK) == 0 else { return [] }
        return try FileBytes.names(inFolder: bases)
            .filter { !$0.hasSuffix(Self.unfinished) && access("\(bases)/\($0)/\(BackupRecord.fileName)", F_OK) == 0 }
            .map { try BackupRecord.read(name: $0, folder: "\(bases)/\($0)") }
            .sorted { $0.name < $1.name }
    }

    /// The backup to restore: the one of a name, or the newest that was complete at a time.
    func backup(named name: String?, endedBy time: Date?) throws -> BackupRecord {
        let all = try backups()
        if let name {
            guard let found = all.first(where: { $0.name == name }) else {
                throw BackupError("\(path) has no complete backup \(name); `vestibule backup list` lists them")
            }
            return found
        }
        guard let found = all.last(where: { backup in time.map { backup.endedAt <= $0 } ?? true }) else {
            throw BackupError(
                all.isEmpty ? "\(path) has no complete backup" : "the oldest backup of \(path) is of a later time"
            )
        }
        return found
    }

    func base(_ name: String) -> String { "\(bases)/\(name)" }
    func unfinishedBase(_ name: String) -> String { "\(bases)/\(name)\(Self.unfinished)" }
    func chain(_ name: String) -> String { "\(chains)/\(name)" }

    /// Makes the folder of a backup that begins now. Another one of the same second gets the name of the next.
    func begin(at date: Date) throws -> (name: String, folder: String) {
        var date = date
        while true {
            let name = Self.name(date)
            let path = unfinishedBase(name)
            if access(base(name), F_OK) != 0 {
                if mkdir(path, 0o700) == 0 { return (name, path) }
                guard errno == EEXIST else { throw FileError.lastError("\(path) cannot be made") }
            }
            date += 1
        }
    }

    /// The names of the chains of the write-ahead log, the oldest first.
    func chainNames() throws -> [String] {
        access(chains, F_OK) == 0 ? try FileBytes.names(inFolder: chains) : []
    }

    /// A name for what begins now; names sort by time.
    static func name(_ date: Date) -> String {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        return date.formatted(style)
    }

    /// Deletes a folder and what is in it.
    static func remove(_ folder: String) throws {
        if access(folder, F_OK) == 0 { try FileManager.default.removeItem(atPath: folder) }
    }

    /// Deletes backups beyond those that are kept, sealed secrets of their age, and the log that only they need.
    ///
    /// - Returns: the names of the deleted backups.
    func prune(keeping count: Int) throws -> [String] {
        let all = try backups()
        let (old, kept) = (all.dropLast(count), all.suffix(count))
        // One that a crash left behind; another process may be making a younger one.
        let abandoned = Self.name(Date() - Self.makingSecondsMax)
        for name in try FileBytes.names(inFolder: bases) where name.hasSuffix(Self.unfinished) && name < abandoned {
            try Self.remove("\(bases)/\(name)")
        }
        for backup in old { try Self.remove(base(backup.name)) }
        guard let oldest = kept.first else { return [] }
        for file in try FileBytes.names(inFolder: secrets) where file < oldest.name { unlink("\(secrets)/\(file)") }
        for chain in try chainNames() {
            let files = try FileBytes.names(inFolder: self.chain(chain)).compactMap(WALFile.init)
            let needless = files.filter { $0.isOlder(than: oldest.firstSegment) }
            for file in needless { unlink("\(self.chain(chain))/\(file.name)") }
            // A chain that ended before the oldest backup. The newest one is being written.
            let isEmpty = files.allSatisfy { $0.kind == .history || $0.isOlder(than: oldest.firstSegment) }
            if try chain != chainNames().last, isEmpty { try Self.remove(self.chain(chain)) }
        }
        return old.map(\.name)
    }
}
