import Backup
import Glibc
import LocalPostgres
import ServiceKit

extension LocalStack {
    /// The result of a restore.
    public struct Restored: Sendable {
        /// The folder with the data from before; nil if there was none.
        public let formerData: String?
        /// When the newest restored transaction was committed, as PostgreSQL prints it; empty if none was replayed.
        public let newestCommit: String
    }

    /// How long the replay of a backup's log may take.
    private static let replayLimitSeconds = 4 * 3600.0
    private static let hasAccounts = "SELECT to_regclass('identity.accounts') IS NOT NULL"

    /// Replaces the stack's database by a backup, while the stack doesn't run: writes its data folder, has PostgreSQL replay the log,
    /// applies migrations, ends all sessions and deletes again the accounts of the log of deletions. If PostgreSQL can't replay it, the
    /// data is as it was before.
    ///
    /// - Parameters:
    ///   - restore: the backup and the time.
    ///   - deletedAccounts: the log of deleted accounts.
    public func restore(_ restore: DataFolderRestore, deletedAccounts: String) async throws -> Restored {
        let lock = try folder.lock()
        defer { close(lock) }
        _ = try folder.initialize()
        try folder.write(plan.providers)
        return try await replaceDatabase(restore, deletedAccounts: deletedAccounts)
    }

    /// Does it, for a holder of the folder's lock.
    ///
    /// - Parameter whenWritten: called when the data folder is complete, before PostgreSQL is started on it.
    func replaceDatabase(
        _ restore: DataFolderRestore,
        deletedAccounts: String,
        whenWritten: () -> Void = {}
    ) async throws -> Restored {
        console.say("writing \(StackFolder.shown(folder.database)) from the backup \(restore.record.name)")
        let former = try LocalCluster.replaceData(directory: folder.database) { try restore.write(to: $0) }
        whenWritten()
        console.say("PostgreSQL replays the log")
        var outcome: Restored?
        var isReplayed = false
        do {
            try await withDatabase(startLimitSeconds: Self.replayLimitSeconds) { cluster in
                let newest = try cluster.runSQL("SELECT COALESCE(pg_last_xact_replay_timestamp()::text, '')")
                try cluster.runSQL(DataFolderRestore.resettingSettings.joined(separator: ";\n"))
                guard try cluster.runSQL(Self.hasAccounts, database: StackPlan.databaseName) == "t" else {
                    throw StackError("the backup has no database \(StackPlan.databaseName) with tables of Vestibule")
                }
                isReplayed = true
                let environment = environment(of: cluster)
                for program in plan.programs where program.hasTables { try await migrate(program, environment) }
                try await afterRestore(deletedAccounts, environment)
                outcome = Restored(formerData: former, newestCommit: newest)
            }
        } catch  where !isReplayed {
            if let former { try LocalCluster.putBack(former, directory: folder.database) }
            throw error
        }
        guard let outcome else { throw StackError("the restore did not end") }
        return outcome
    }

    /// Identity's own command, whose lines go to the console.
    private func afterRestore(_ deletedAccounts: String, _ environment: [String: String]) async throws {
        guard var program = plan.programs.first(where: { $0.name == "identity" }) else { return }
        program.name = "identity-after-restore"
        program.command = [program.command[0], "after-restore", "--confirm"]
        if access(deletedAccounts, F_OK) == 0 { program.command += ["--deleted-accounts", deletedAccounts] }
        _ = try await runToEnd(program, environment, limit: .seconds(3600))
    }
}
