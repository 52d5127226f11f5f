import FoundationEssentials
import Glibc
import ServiceKit

/// Makes whole backups.
public struct BackupMaker: Sendable {
    private let settings: BackupSettings
    private let store: BackupStore
    private let deletions: DeletionRecorder

    /// A maker of backups with these settings.
    public init(_ settings: BackupSettings) { self.init(settings, deletions: DeletionRecorder(settings)) }

    init(_ settings: BackupSettings, deletions: DeletionRecorder) {
        self.settings = settings
        self.deletions = deletions
        store = BackupStore(settings)
    }

    /// What was made and deleted.
    public struct Outcome: Sendable, Hashable {
        /// The backup.
        public let backup: BackupRecord
        /// The file of sealed keys; nil if none are configured.
        public let secretsFile: String?
        /// The names of backups that were deleted, being more than are kept.
        public let deleted: [String]
    }

    /// Copies the whole cluster, with the log that makes the copy consistent; adds the deleted accounts to their log; seals the keys;
    /// and deletes backups in excess. What was cut leaves the backups before as they were.
    ///
    /// - Parameter showsProgress: whether PostgreSQL's program prints its progress to standard error.
    public func make(showsProgress: Bool = false) async throws -> Outcome {
        let folder = settings.folder
        try folder.make()
        let cluster = try await store.cluster()
        let tool = try PostgresTool.find("pg_basebackup", database: settings.database)
        // First: a file that can't be read is found before the database was copied.
        let secrets = try settings.recipientFile.map { try SealedArchive.seal(settings.secrets, forCertificate: $0) }
        let (name, unfinished) = try folder.begin(at: Date())
        do {
            try await tool.runAside(
                [
                    "--pgdata=\(unfinished)", "--format=tar", "--gzip", "--compress=1", "--wal-method=stream",
                    "--checkpoint=fast", "--label=vestibule \(name)", "--no-password",
                ] + (showsProgress ? ["--progress"] : []),
                showsOutput: showsProgress
            )
            let files = try FileBytes.names(inFolder: unfinished)
            let tablespaces = files.filter { $0.hasSuffix(".tar.gz") && $0 != "base.tar.gz" && $0 != "pg_wal.tar.gz" }
            guard tablespaces.isEmpty else {
                throw BackupError("the database has tablespaces, which are not supported")
            }
            let backup = BackupRecord(
                format: BackupRecord.formatNow,
                name: name,
                endedAt: Date(),
                systemIdentifier: cluster.systemIdentifier,
                majorVersion: cluster.majorVersion,
                firstSegment: try Self.firstSegment(manifest: "\(unfinished)/backup_manifest"),
                bytes: files.reduce(0) { $0 + Self.size("\(unfinished)/\($1)") },
                program: ProgramVersion.current
            )
            try backup.write(inFolder: unfinished)
        } catch {
            try? BackupFolder.remove(unfinished)
            throw error
        }
        guard rename(unfinished, folder.base(name)) == 0 else { throw FileError.lastError(folder.base(name)) }
        let secretsFile = "\(folder.secrets)/\(name).tar.cms"
        if let secrets { try FileBytes.replace(secretsFile, mode: 0o600, with: secrets) }
        try await deletions.record()
        return Outcome(
            backup: try folder.backup(named: name, endedBy: nil),
            secretsFile: secrets == nil ? nil : secretsFile,
            deleted: try folder.prune(keeping: settings.keptCount)
        )
    }

    /// The first segment that the backup needs, from its manifest (PostgreSQL manual, "Backup Manifest Format").
    private static func firstSegment(manifest path: String) throws -> String {
        struct Manifest: Decodable {
            struct Range: Decodable {
                let timeline: UInt32
                let start: String
                enum CodingKeys: String, CodingKey { case timeline = "Timeline", start = "Start-LSN" }
            }
            let ranges: [Range]
            enum CodingKeys: String, CodingKey { case ranges = "WAL-Ranges" }
        }
        let bytes = try FileBytes.read(path, bytesMax: 1 << 30)
        guard let range = try JSONDecoder().decode(Manifest.self, from: Data(bytes)).ranges.last,
            let segment = LogPosition(range.start)?.segment(timeline: range.timeline)
        else { throw BackupError("\(path) has no position") }
        return segment
    }

    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}

/// A position in the write-ahead log, such as `0/3000028`.
struct LogPosition: Sendable, Hashable {
    /// The bytes of a segment: as `initdb` makes them unless it was asked for others.
    private static let segmentBytes: UInt64 = 16 << 20

    private let bytes: UInt64

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let high = UInt32(parts[0], radix: 16), let low = UInt32(parts[1], radix: 16) else {
            return nil
        }
        bytes = UInt64(high) << 32 | UInt64(low)
    }

    /// The name of the segment that has it.
    func segment(timeline: UInt32) -> String {
        let number = bytes / Self.segmentBytes
        let perFile = (1 << 32) / Self.segmentBytes
        return [timeline, UInt32(truncatingIfNeeded: number / perFile), UInt32(truncatingIfNeeded: number % perFile)]
            .map { word in
                let text = String(word, radix: 16, uppercase: true)
                return String(repeating: "0", count: 8 - text.count) + text
            }.joined()
    }
}
