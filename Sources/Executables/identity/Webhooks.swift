import ArgumentParser
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity webhooks`: what a person can do about events that targets of webhooks didn't take.
struct Webhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List webhook events that were not delivered, and retry them.",
        discussion: """
            An event that a target doesn't take for three days is parked, and so is one that a target answers with 410. Look at \
            them with `list`; once the cause is mended, `replay` them: they are told with the ids that they had, and tried for \
            three days again. A target that answered with 410 goes on by that. Parked events are forgotten after 30 days.

            It reads the configuration of `serve` and connects as its role.
            """,
        subcommands: [List.self, Show.self, Replay.self],
        defaultSubcommand: List.self
    )

    /// Shows them.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the events that are parked, the one parked longest ago first."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Flag(help: "Show those that wait for their next try instead, oldest first.")
        var waiting = false
        @Option(help: ArgumentHelp("Those of one target.", valueName: "name"))
        var target: String?
        @Option(help: ArgumentHelp("How many are shown at most.", valueName: "count"))
        var limit = 100

        func validate() throws {
            guard 1...10_000 ~= limit else { throw ValidationError("--limit is from 1 to 10000") }
        }

        func run() async { await perform(.list(areParked: !waiting, target: target, limit: limit), file) }
    }

    /// Shows one.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show all of an event, for each target that has not received it."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: ArgumentHelp("Its id, as `list` shows it: the webhook-id of its messages.", valueName: "id"))
        var id: String

        func run() async { await perform(.show(id), file) }
    }

    /// Has them told again.
    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retry parked events."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: ArgumentHelp("Their ids, as `list` shows them.", valueName: "id"))
        var ids: [String] = []
        @Flag(help: "All of them.")
        var all = false
        @Option(help: ArgumentHelp("Those of one target.", valueName: "name"))
        var target: String?

        func validate() throws {
            guard ids.count <= 1_000 else { throw ValidationError("at most 1000 ids") }
            guard ids.isEmpty == all || ids.isEmpty && target != nil else {
                throw ValidationError("say which: ids, --all, or --target")
            }
        }

        func run() async { await perform(.replay(ids.isEmpty ? nil : ids, target: target), file) }
    }
}

private func perform(_ command: WebhooksCommand, _ file: ConfigurationFileOption) async {
    await Program.run(IdentityServer.self, configurationPath: file.path) { server in
        for line in try await server.webhooks(command) { print(line) }
    }
}
