import ArgumentParser
import FoundationEssentials
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule sessions`: an operator's commands on sessions.
struct Sessions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End sessions, as an operator.",
        subcommands: [End.self]
    )

    /// `vestibule sessions end`: runs `identity end-sessions`, since identity has the database.
    struct End: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End all sessions, those begun before a time, or those of one account.",
            discussion: """
                Runs `identity end-sessions` of the program beside this one (or in the folder that \
                \(StackKeys.programs.name) names), with identity's configuration. Use it after a restore or a \
                failover, with --all or --before, and for an account that an attacker got into, with --account.

                Without --confirm it prints the number of sessions, changes nothing, and exits with 1. The audit log \
                records what it does.
                """
        )

        @OptionGroup var file: ConfigurationFileOption
        @Flag(help: "End all sessions.")
        var all = false
        @Option(help: ArgumentHelp("End those begun before a time, such as 2026-11-22T01:00:53Z.", valueName: "time"))
        var before: String?
        @Option(help: ArgumentHelp("End the sessions of one account.", valueName: "id"))
        var account: String?
        @Flag(help: "Do it. It can't be undone.")
        var confirm = false

        func validate() throws {
            if (all ? 1 : 0) + (before == nil ? 0 : 1) + (account == nil ? 0 : 1) != 1 {
                throw ValidationError("one of --all, --before and --account is required")
            }
        }

        func run() {
            var arguments = ["end-sessions"]
            if let path = file.path { arguments += ["--config", path] }
            if all { arguments.append("--all") }
            if let before { arguments += ["--before", before] }
            if let account { arguments += ["--account", account] }
            if confirm { arguments.append("--confirm") }
            IdentityProgram.become(
                arguments,
                of: "vestibule sessions end",
                inContainers: "docker compose run --rm identity end-sessions"
            )
        }
    }
}
