import ArgumentParser
import FoundationEssentials
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule sessions`: what an operator does with sessions.
struct Sessions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End sessions, as an operator.",
        subcommands: [End.self]
    )

    /// `vestibule sessions end`: has identity, which has the database, end sessions.
    struct End: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End all sessions, those from before a time, or those of one account.",
            discussion: """
                Becomes `identity end-sessions` of the program beside this one (or in the folder that \
                \(StackKeys.programs.name) names), with identity's configuration. Needed after a restore or a failover, with \
                --all or --before, and for an account that somebody else got into, with --account.

                Without --confirm it tells how many sessions there are, changes nothing, and exits with 1. What it does is \
                written into the audit log.
                """
        )

        @OptionGroup var file: ConfigurationFileOption
        @Flag(help: "Those of everybody.")
        var all = false
        @Option(help: ArgumentHelp("Those begun before a time, such as 2026-11-22T01:00:53Z.", valueName: "time"))
        var before: String?
        @Option(help: ArgumentHelp("Those of one account.", valueName: "id"))
        var account: String?
        @Flag(help: "Do it. There is no way back.")
        var confirm = false

        func validate() throws {
            if (all ? 1 : 0) + (before == nil ? 0 : 1) + (account == nil ? 0 : 1) != 1 {
                throw ValidationError("one of --all, --before and --account is needed")
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
