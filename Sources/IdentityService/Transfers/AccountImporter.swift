import AccountImport
import Models
import RPC
import ServiceKit

/// How far an import is.
public struct ImportProgress: Sendable, Hashable {
    /// How many bytes of the first file were read.
    public internal(set) var bytes: Int64 = 0
    /// How many it has.
    public internal(set) var byteCount: Int64 = 0
    /// How many rows were read.
    public internal(set) var rows: Int64 = 0
    /// How many accounts were made.
    public internal(set) var made: Int64 = 0
    /// How many accounts were there already.
    public internal(set) var there: Int64 = 0
    /// How many people nobody can reach any more.
    public internal(set) var unreachable: Int64 = 0
    /// How often something of a row didn't come in.
    public internal(set) var rejections: Int64 = 0
    /// How often that was all of it.
    public internal(set) var rejectedRows: Int64 = 0
}

/// What is imported, from where to where.
public struct ImportOrder: Sendable {
    /// How the files are read.
    public var plan: ImportPlan
    /// Their paths.
    public var files: [String]
    /// Where it goes on; nil for the beginning.
    public var position: ImportPosition?
    /// Whether nothing is to be changed.
    public var isDry: Bool
    /// The CSV file for rejected rows.
    public var rejectsPath: String
    /// Where is told whom nobody can reach any more.
    public var unreachablePath: String
    /// Where is told what accounts are called now whose ids could not be kept; nil for nowhere.
    public var idsPath: String?

    /// Where files for the time of the import go: beside those that it writes.
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

/// Brings the accounts of files in, batch by batch, and hands to profile what it keeps of them.
///
/// What a batch rejects stands in its file before profile is told of the batch, and profile keeps where it is: so one that was killed
/// goes on from there, and nothing is lost of what is told.
struct AccountImporter {
    /// How many ids are read at once for the file of them.
    private static let idsPage = 5000

    let store: IdentityStore
    let order: ImportOrder
    let names: ProviderNames
    let policy: PhonePolicy
    let clock: WallClock

    /// Does it.
    ///
    /// - Parameters:
    ///   - output: the descriptor that profile reads.
    ///   - tell: is told how far it is.
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
        // Of this run: one that goes on finds what a killed one has made as anything that is there.
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

    /// Brings a batch in, and tells which of its accounts are there.
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
