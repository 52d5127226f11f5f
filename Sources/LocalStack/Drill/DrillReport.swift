/// What a drill measured, and its verdict.
public struct DrillReport: Sendable, Hashable {
    /// An acknowledged write that is older than this when the database is destroyed must be in the backups: they follow by
    /// milliseconds, unless following them has stopped.
    static let lossMax = Duration.seconds(1)

    /// From the begin of the restore until PostgreSQL's data folder was written and compared with its checksums.
    var filesBack: Duration
    /// From then until the services answered a sign-in.
    var serving: Duration
    /// The most that this may be.
    var servingMax: Duration
    /// How many accounts there are after the restore.
    var accounts: Int
    /// How many there were before the backup; nil for a backup of another system.
    var accountsBefore: Int?
    /// Nil for a backup of another system.
    var comparison: DrillComparison?
    /// When the newest restored transaction was committed, as PostgreSQL prints it; empty if none was replayed.
    var newestCommit = ""

    /// Lines for people.
    public var lines: [String] {
        var lines = [
            "files back after   \(StackConsole.seconds(filesBack))",
            "serving after      \(StackConsole.seconds(serving)) more, of at most \(StackConsole.seconds(servingMax))",
            "accounts           \(accounts)"
                + (accountsBefore.map { ", \($0) of them from before the backup's begin" } ?? ""),
        ]
        if !newestCommit.isEmpty { lines.append("newest commit      \(newestCommit)") }
        guard let comparison else { return lines }
        let writes = comparison.accounts + comparison.names + comparison.deletions
        let oldest = comparison.lost.max()
        lines.append(
            "writes             \(writes) acknowledged, \(comparison.lost.count) missing"
                + (oldest.map { ", the oldest \(Int($0 / .milliseconds(1))) ms before the end" } ?? "")
        )
        lines.append("deletions          \(comparison.deletions) acknowledged")
        return lines
    }

    /// What went wrong; empty if the drill passed.
    public var faults: [String] {
        var faults: [String] = []
        if serving > servingMax {
            faults.append("the services answered \(StackConsole.seconds(serving)) after the files were back")
        }
        if let accountsBefore, accounts < accountsBefore {
            faults.append("\(accountsBefore - accounts) accounts of the backup are missing")
        }
        guard let comparison else { return faults }
        let old = comparison.lost.count { $0 > Self.lossMax }
        if old > 0 {
            let limit = StackConsole.seconds(Self.lossMax)
            faults.append("\(old) missing writes were acknowledged more than \(limit) before the end")
        }
        if comparison.liveSessions > 0 { faults.append("\(comparison.liveSessions) sessions from before are alive") }
        if comparison.accounts == 0 { faults.append("no call was acknowledged before the end") }
        return faults
    }
}
