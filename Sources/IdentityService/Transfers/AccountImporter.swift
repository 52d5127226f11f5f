import AccountImport
import Models
import RPC
import ServiceKit

/// The progress of an import.
public struct ImportProgress: Sendable, Hashable {
    /// How many bytes of the first file were read.
    public internal(set) var bytes: Int64 = 0
    /// The size of the first file in bytes.
    public internal(set) var byteCount: Int64 = 0
    /// How many rows were read.
    public internal(set) var rows: Int64 = 0
    /// How many accounts were made.
    public internal(set) var made: Int64 = 0
    /// How many accounts were there already.
    public internal(set) var there: Int64 = 0
    /// How many accounts no user can sign in to any more.
    public internal(set) var unreachable: Int64 = 0
    /// How many parts of rows were rejected.
    public internal(set) var rejections: Int64 = 0
    /// How many rows were rejected as a whole.
    public internal(set) var rejectedRows: Int64 = 0
}

/// The files of an import, and its output files.
public struct ImportOrder: Sendable {
    /// How the files are read.
    public var plan: ImportPlan
    /// Their paths.
    public var files: [String]
    /// Where the import resumes; nil for the beginning.
    public var position: ImportPosition?
    /// Whether to change nothing.
    public var isDry: Bool
    /// The CSV file for rejected rows.
    public var rejectsPath: String
    /// The CSV file for accounts that no user can sign in to any more.
    public var unreachablePath: String
    /// The CSV file for the new ids of accounts whose ids could not be kept; nil for none.
    public var idsPath: String?

    /// The folder for temporary files of the import: beside those that it writes.
    var scratchFolder: String {
        rejectsPath.lastIndex(of: "/").map { $0 == rejectsPath.startIndex ? "/" : String(rejectsPath[..<$0]) } ?? "."
    }

    /// An order.
    public init(
        _ plan: ImportPlan,
        files: [String],
        position: ImportPosition?,
        isDry: Bool,
        rejectsPath: String,
        unreachablePath: String,
        idsPath: String?
    ) {
        self.plan = plan
        self.files = files
        self.position = position
        self.isDry = isDry
        self.rejectsPath = rejectsPath
        self.unreachablePath = unreachablePath
        self.idsPath = idsPath
    }
}

/// Imports the accounts of files, batch by batch, and hands profile the data that profile keeps of them.
///
/// The rejected rows of a batch are written to their file before profile gets the batch, and profile keeps the position. So a killed
/// import resumes from there, and no rejection is lost.
struct AccountImporter {
    /// How many ids are read at once for the file of ids.
    private static let idsPage = 5000

    let store: IdentityStore
    let order: ImportOrder
    let names: ProviderNames
    let policy: PhonePolicy
    let clock: WallClock

    /// Runs the import.
    ///
    /// - Parameters:
    ///   - output: the descriptor that profile reads.
    ///   - tell: called with the progress after each batch.
    func run(to output: Int32, _ tell: (ImportProgress) -> Void) async throws -> ImportProgress {
        let files = try order.files.map { path throws(ImportError) in try FileInput(path) }
        let digest = try AccountReader.digest(order.plan, files)
        var reader = try AccountReader(
            order.plan,
            files,
            scratchFolder: order.scratchFolder,
            nowMilliseconds: clock.nowMilliseconds
        )
        if let position = order.position { reader.seek(to: position) }
        let row = order.position?.row ?? 0
        let rejects = try CSVFile(order.rejectsPath, header: CSVFile.rejectsHeader, before: row)
        let unreachable = try CSVFile(order.unreachablePath, header: CSVFile.unreachableHeader, before: row)
        let profile = ProfileStreamWriter(output)
        try profile.begin(.init(digest: digest, source: order.plan.sourceName, isDry: order.isDry))
        var progress = ImportProgress(byteCount: reader.byteCount)
        // Of this run only: a resumed import treats accounts that a killed one made as already there.
        var earlier: Set<UserID> = []
        var isDone = false
        while !isDone {
            var candidates: [ImportCandidate] = []
            var count = 0
            while count < ProfileStream.batchMax {
                guard let row = try reader.next() else {
                    isDone = true
                    break
                }
                count += 1
                if let account = row.account {
                    candidates.append(ImportCandidate(account, line: row.line, names: names, policy: policy))
                } else if let reason = row.reason {
                    rejects.add(line: row.line, id: row.oldID, reason)
                    progress.rejections += 1
                    progress.rejectedRows += 1
                }
            }
            progress.rows += Int64(count)
            earlier.formUnion(try await finish(candidates, earlier, rejects, unreachable, profile, &progress))
            try profile.end(at: reader.position)
            progress.bytes = reader.position.offset
            tell(progress)
        }
        if let path = order.idsPath, !order.isDry { try await writeIDs(to: path) }
        try profile.end()
        return progress
    }

    /// Imports a batch. Returns which of its accounts exist now.
    private func finish(
        _ candidates: [ImportCandidate],
        _ earlier: Set<UserID>,
        _ rejects: CSVFile,
        _ unreachable: CSVFile,
        _ profile: ProfileStreamWriter,
        _ progress: inout ImportProgress
    ) async throws -> [UserID] {
        let verdicts = try await store.importAccounts(
            candidates,
            source: order.plan.sourceName,
            earlier: earlier,
            keepsUnreachable: order.plan.keepsUnreachable,
            isDry: order.isDry,
            nowMilliseconds: clock.nowMilliseconds
        )
        for rejection in verdicts.rejections {
            rejects.add(line: rejection.line, id: rejection.oldID, rejection.reason)
        }
        let lost = verdicts.unreachable + verdicts.new.filter { !$0.isReachable }
        for candidate in lost.sorted(by: { $0.line < $1.line }) {
            let ways = candidate.otherWays.isEmpty ? "nothing" : candidate.otherWays.joined(separator: " ")
            unreachable.add(["\(candidate.line)", candidate.account.oldID, ways])
        }
        try rejects.flush()
        try unreachable.flush()
        for candidate in verdicts.present {
            let row = ProfileStream.Row(candidate)
            if !row.isEmpty { profile.add(row) }
        }
        progress.made += Int64(verdicts.new.count)
        progress.there += Int64(verdicts.there.count)
        progress.unreachable += Int64(lost.count)
        progress.rejections += Int64(verdicts.rejections.count)
        let kept = verdicts.new.count + verdicts.there.count + verdicts.unreachable.count
        progress.rejectedRows += Int64(candidates.count - kept)
        return verdicts.present.map(\.account.userID)
    }

    private func writeIDs(to path: String) async throws {
        let file = try CSVFile(path, header: CSVFile.idsHeader)
        var last = ""
        while true {
            let page = try await store.importedIDs(of: order.plan.sourceName, after: last, limit: Self.idsPage)
            guard let end = page.last else { return }
            for (oldID, userID) in page { file.add([oldID, userID.description]) }
            try file.flush()
            last = end.oldID
        }
    }
}
