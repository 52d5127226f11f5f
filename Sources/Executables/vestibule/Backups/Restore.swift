import ArgumentParser
import Backup
import Foundation
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule restore`: a database from a backup.
struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restore the database from a backup, up to a time or to the end of the log.",
        discussion: """
            It restores the database of `vestibule run`, which must not run: it writes PostgreSQL's data folder, has the log \
            replayed, ends all sessions and deletes the accounts again that were deleted since. The data from before stays \
            beside it.

            With --data-folder it writes the data folder of another PostgreSQL, which must be empty, and stops there: start that \
            server, and when it accepts connections run `identity after-restore`. See docs/run/back-up.md.
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Option(
        help: ArgumentHelp(
            "The folder of backups; by default VESTIBULE_BACKUP_FOLDER, or that of `vestibule run`.",
            valueName: "folder"
        )
    )
    var from: String?
    @Option(help: ArgumentHelp("The backup; by default the newest that was complete at the time.", valueName: "name"))
    var backup: String?
    @Option(
        help: ArgumentHelp("Restore what was committed until then, such as 2026-11-22T01:00:53Z.", valueName: "time")
    )
    var to: Moment?
    @Option(help: ArgumentHelp("Write the data folder of another PostgreSQL.", valueName: "folder"))
    var dataFolder: String?
    @Flag(help: "Do it: the database is replaced.")
    var confirm = false

    func run() async {
        do {
            let configuration = file.stackConfiguration()
            let named =
                from ?? ProcessInfo.processInfo.environment[BackupKeys.folder.name].flatMap { $0.isEmpty ? nil : $0 }
            let folder = BackupFolder(path: named ?? "\(configuration[StackKeys.folder])/backup")
            let restore = try DataFolderRestore(from: folder, backup: backup, to: to?.date)
            let reach = to.map { "to \($0.date.formatted(.iso8601))" } ?? "and all of the log"
            guard confirm else {
                Program.end(
                    "vestibule restore: it would restore the backup \(restore.record.name) \(reach). Nothing was changed; "
                        + "--confirm does it",
                    code: 1
                )
            }
            let began = ContinuousClock.now
            if let dataFolder {
                try restore.write(toEmptyFolder: dataFolder)
                print(
                    "wrote \(dataFolder) from the backup \(restore.record.name) \(reach); PostgreSQL \(restore.majorVersion) replays it"
                )
                return
            }
            let stack = try LocalStack(
                configuration: configuration,
                configurationPath: file.path,
                environment: ProcessInfo.processInfo.environment
            )
            let outcome = try await stack.restore(restore, deletedAccounts: folder.deletedAccounts)
            if !outcome.newestCommit.isEmpty { print("the newest restored commit is of \(outcome.newestCommit)") }
            if let former = outcome.formerData { print("the data from before is in \(former)") }
            print(
                "restored in \((ContinuousClock.now - began).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))))"
            )
        } catch {
            Program.end(error, program: "vestibule restore")
        }
        Program.end(nil, code: 0)
    }
}

/// A time of RFC 3339, with or without fractions of a second.
struct Moment: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        guard let date = styles.lazy.compactMap({ try? Date(argument, strategy: $0) }).first else { return nil }
        self.date = date
    }
}
