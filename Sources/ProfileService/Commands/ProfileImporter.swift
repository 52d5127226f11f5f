import AccountImport
import Models
import Synchronization

/// The outcome of an import in this service.
public struct ProfileImportOutcome: Sendable, Hashable {
    /// Whether nothing was changed.
    public internal(set) var isDry = false
    /// How many profiles now have all their imported data.
    public internal(set) var applied: Int64 = 0
    /// How many of them had it before.
    public internal(set) var there: Int64 = 0
    /// How often a part of a row was rejected.
    public internal(set) var rejections: Int64 = 0
}

/// Writes the imported accounts that identity sends, batch by batch.
struct ProfileImporter {
    let store: ProfileStore
    let clock: WallClock

    /// Reads the stream to its end.
    ///
    /// - Parameters:
    ///   - input: the descriptor that identity writes to.
    ///   - rejectsPath: the CSV file for rejected rows; identity has begun it.
    func run(from input: Int32, rejectsPath: String) async throws -> ProfileImportOutcome {
        var stream = try ProfileStreamReader(input)
        // After the first line, since identity has begun its file by then.
        let rejects = RejectsFile(try CSVFile(rejectsPath, header: nil))
        let header = stream.header
        var outcome = ProfileImportOutcome(isDry: header.isDry)
        var rows: [ProfileStream.Row] = []
        while true {
            switch try stream.next() {
            case .row(let row):
                guard rows.count < ProfileStream.batchMax else {
                    throw ImportError("standard input", "a batch is too long: is this the identity of another version?")
                }
                rows.append(row)
            case .position(let position):
                let batch = try await apply(rows, header, position, rejects)
                outcome.applied += batch.applied
                outcome.there += batch.there
                outcome.rejections += Int64(batch.rejections.count)
                rows.removeAll(keepingCapacity: true)
            case .end:
                if !header.isDry {
                    try await store.endImport(header.digest, nowMilliseconds: clock.nowMilliseconds)
                }
                return outcome
            }
        }
    }

    private func apply(
        _ rows: [ProfileStream.Row],
        _ header: ProfileStream.Header,
        _ position: ImportPosition,
        _ rejects: RejectsFile
    ) async throws -> ImportedProfiles {
        if header.isDry {
            let outcome = try await store.wouldImport(rows)
            try rejects.add(outcome.rejections)
            return outcome
        }
        return try await store.importProfiles(
            rows,
            (header.digest, position),
            nowMilliseconds: clock.nowMilliseconds
        ) { try rejects.add($0) }
    }
}

/// The file of rejected rows, which a transaction writes before its commit.
private final class RejectsFile: Sendable {
    private let file: Mutex<CSVFile>

    init(_ file: consuming sending CSVFile) { self.file = Mutex(file) }

    func add(_ rejections: [(row: ProfileStream.Row, reason: ImportReason)]) throws {
        try file.withLock { file in
            for (row, reason) in rejections { file.add(line: row.line, id: row.oldID, reason) }
            try file.flush()
        }
    }
}
