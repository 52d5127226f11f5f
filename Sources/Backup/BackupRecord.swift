import FoundationEssentials
import ServiceKit

/// What is known of a whole backup; its file `backup.json`.
public struct BackupRecord: Codable, Sendable, Hashable {
    static let fileName = "backup.json"
    /// The format of the folder.
    static let formatNow = 1

    /// The format of the folder: 1.
    public let format: Int
    /// The name of its folder, the time at which it began.
    public let name: String
    /// When it was complete: a restore reaches this time or a later one.
    public let endedAt: Date
    /// The cluster's own number (`pg_control_system`), as text: it has 64 bits.
    public let systemIdentifier: String
    /// PostgreSQL's major version.
    public let majorVersion: Int
    /// The first file of the write-ahead log that a restore needs.
    public let firstSegment: String
    /// The size of its files.
    public let bytes: Int64
    /// The version of the program that made it.
    public let program: String

    static func read(name: String, folder: String) throws -> BackupRecord {
        let path = "\(folder)/\(fileName)"
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(path, bytesMax: 65_536) } catch { throw BackupError("\(path) \(error)") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let record = try? decoder.decode(Self.self, from: Data(bytes)), record.name == name else {
            throw BackupError("\(path) is not the record of a backup")
        }
        guard record.format == formatNow else {
            throw BackupError("\(path) has format \(record.format); this program reads \(formatNow)")
        }
        return record
    }

    func write(inFolder folder: String) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try FileBytes.replace("\(folder)/\(Self.fileName)", mode: 0o600, with: Array(try encoder.encode(self)) + [10])
    }
}

/// A file of the write-ahead log, by its name (PostgreSQL source, `xlog_internal.h`): a timeline and a position of 8 and 16 hexadecimal
/// digits.
struct WALFile: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case segment, partial, history }

    let name: String
    let kind: Kind

    /// Nil for files of another kind.
    init?(name: String) {
        func isHex(_ text: Substring, _ count: Int) -> Bool {
            text.utf8.count == count && text.utf8.allSatisfy { (48...57).contains($0) || (65...70).contains($0) }
        }
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        switch (
            parts.first.map { isHex($0, 24) } ?? false, parts.first.map { isHex($0, 8) } ?? false,
            parts.dropFirst().first
        ) {
        case (true, _, nil): kind = .segment
        case (true, _, "partial"): kind = .partial
        case (_, true, "history"): kind = .history
        default: return nil
        }
        self.name = name
    }

    /// The name of the file that PostgreSQL asks for.
    var wantedName: String { kind == .partial ? String(name.prefix(24)) : name }

    var timeline: String { String(name.prefix(8)) }

    /// Whether a backup that begins with that segment doesn't need it; positions grow over timelines.
    func isOlder(than segment: String) -> Bool {
        kind != .history && name.dropFirst(8).prefix(16) < segment.dropFirst(8)
    }
}
