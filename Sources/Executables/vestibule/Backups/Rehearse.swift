import ArgumentParser
import Backup
import Foundation
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule drill`: a rehearsal of the loss of a database.
struct Rehearse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Rehearse the loss of a database: destroy one and restore it, or restore your backups aside.",
        discussion: """
            Without --from it makes a system of its own, in a folder and on ports of its own, fills it with accounts, follows it \
            with backups, destroys its database under load, restores it, and compares what is there with each answer that \
            the phones got. It destroys only a database that it made, known by a row in it.

            With --from it restores the newest of your backups into that folder, starts the services on it and signs in. Your \
            system is not asked for anything. The copy is deleted at the end; it has all personal data of the backup, so use \
            an encrypted disk.

            Exit code: 0 if it passed; 1 if something was lost, took too long or failed; 64 for wrong arguments; 130 after Ctrl-C.
            """
    )

    @Option(help: ArgumentHelp("The folder: a new one, or that of an earlier drill.", valueName: "folder"))
    var folder = ".vestibule-drill"
    @Option(help: ArgumentHelp("How many accounts the database has.", valueName: "count"))
    var accounts = 10_000
    @Option(help: ArgumentHelp("How many phones make calls at the same time.", valueName: "count"))
    var phones = 16
    @Option(help: ArgumentHelp("How long they call before the database is destroyed.", valueName: "seconds"))
    var seconds = 10.0
    @Option(
        help: ArgumentHelp(
            "How long after the files are back the services may take to answer.",
            valueName: "seconds"
        )
    )
    var servingWithin = 60.0
    @Option(help: ArgumentHelp("Restore the backups of this folder instead.", valueName: "folder"))
    var from: String?
    @Option(help: ArgumentHelp("With --from: the backup; by default the newest.", valueName: "name"))
    var backup: String?
    @Option(help: ArgumentHelp("With --from: restore what was committed until then.", valueName: "time"))
    var to: Moment?
    @Flag(help: "Keep the folder.")
    var keep = false

    func validate() throws {
        guard Drill.accountCounts.contains(accounts) else {
            throw ValidationError("--accounts must be 1 to \(Drill.accountCounts.upperBound)")
        }
        guard Drill.phoneCounts.contains(phones) else {
            throw ValidationError("--phones must be 1 to \(Drill.phoneCounts.upperBound)")
        }
        guard (1...3600).contains(seconds) else { throw ValidationError("--seconds must be 1 to 3600") }
        guard (0.001...86_400).contains(servingWithin) else {
            throw ValidationError("--serving-within must be 0.001 to 86400")
        }
        guard from != nil || (backup == nil && to == nil) else {
            throw ValidationError("--backup and --to need --from")
        }
    }

    func run() async {
        let signals = ShutdownSignals()
        do {
            var plan = Drill.Plan(folder: folder)
            plan.accounts = accounts
            plan.phones = phones
            plan.loadTime = .seconds(seconds)
            plan.servingMax = .seconds(servingWithin)
            plan.isKept = keep
            plan.backups = from.map { BackupFolder(path: $0) }
            plan.backup = backup
            plan.time = to?.date
            let drill = try Drill(plan, environment: ProcessInfo.processInfo.environment)
            let report = try await drill.run { signals.wasReceived }
            print("\n" + report.lines.joined(separator: "\n"))
            let faults = report.faults
            print(faults.isEmpty ? "\nthe drill passed" : "\nTHE DRILL FAILED: \(faults.joined(separator: "; "))")
            fflush(nil)
            Program.end(nil, code: faults.isEmpty ? 0 : 1)
        } catch {
            Program.end("vestibule drill: \(error)", code: signals.wasReceived ? 130 : 1)
        }
    }
}
