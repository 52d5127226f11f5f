import ArgumentParser
import ServiceKit

/// `migrate`: applies migrations, or says which ones it would apply. `vestibule upgrade` asks all services.
public struct Migrate<Server: MigratingServer>: AsyncParsableCommand {
    /// The command.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "migrate",
            abstract: "Bring the tables up to date and exit.",
            discussion: MigrationHelp.exitCodes
        )
    }

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "Print what would run, which tables it locks and for how long, and change nothing.")
    var plan = false
    @Flag(help: "Print the plan as one line of JSON.")
    var json = false

    /// No options yet: ArgumentParser sets them.
    public init() {}

    /// Rejects `--json` without `--plan`.
    public func validate() throws {
        guard plan || !json else { throw ValidationError("--json goes with --plan") }
    }

    /// Migrates or prints the plan, and ends the process.
    public func run() async {
        guard plan else { await Program.migrate(Server.self, configurationPath: file.path) }
        await Program.run(Server.self, configurationPath: file.path) { server in
            let report = try await server.migrationReport()
            let basis = MigrationReport.basis(of: [report]).map { "\n\n" + $0 } ?? ""
            print(json ? try report.json() : report.text + basis)
            if !report.verdict.isAllowed { Program.end(nil, code: MigrationHelp.notAllowed) }
        }
    }
}

/// What `migrate --plan` of the services and `vestibule upgrade --plan` have in common.
public enum MigrationHelp {
    /// The exit code where an upgrade isn't allowed.
    public static let notAllowed: Int32 = 3
    /// The exit codes of a plan.
    public static let exitCodes = """
        With --plan the exit code is 0 if there is nothing to do or the upgrade is allowed, 3 if it is not allowed because versions \
        between were left out or because the database is too new, and 1 if the database can't be read.
        """
}
