import ArgumentParser
import ProfileService
import ServiceCommands
import ServiceKit

/// `profile outbox`: what a person can do about events that invites doesn't take.
struct Outbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at the events that invites was not told, and deal with them.",
        discussion: """
            An event that invites refuses, or fails on sixteen times, is set aside: nothing more is told of its phone \
            number, so that the order stays right. Look at it with `list`; once the cause is mended, `requeue` it. One that \
            can never be taken is forgotten with `discard`.

            It reads the configuration of `serve`, so give it the same environment or file: in a container, \
            `docker compose exec profile vestibule-program outbox list`.
            """,
        subcommands: [List.self, Requeue.self, Discard.self],
        defaultSubcommand: List.self
    )

    /// Shows them.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the events that are set aside, or wait to be tried again, oldest first."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Option(help: ArgumentHelp("How many are shown at most.", valueName: "count"))
        var limit = 100
        @Flag(help: "Show whole phone numbers, and not only their last digits.")
        var numbers = false

        func validate() throws {
            guard 1...10_000 ~= limit else { throw ValidationError("--limit is from 1 to 10000") }
        }

        func run() async { await perform(.list(limit: limit, showsNumbers: numbers), file) }
    }

    /// Has them told again.
    struct Requeue: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Have events told again, from the next moment on.")

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: ArgumentHelp("Their ids, as `list` shows them.", valueName: "id"))
        var ids: [Int64] = []
        @Flag(help: "All of them.")
        var all = false

        func validate() throws {
            guard all == ids.isEmpty else { throw ValidationError("say which: ids, or --all") }
        }

        func run() async { await perform(.requeue(all ? nil : ids), file) }
    }

    /// Forgets them.
    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget events that are set aside; invites will never learn of them."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: ArgumentHelp("Their ids, as `list` shows them.", valueName: "id"))
        var ids: [Int64]

        func run() async { await perform(.discard(ids), file) }
    }
}

private func perform(_ command: OutboxCommand, _ file: ConfigurationFileOption) async {
    await Program.run(ProfileServer.self, configurationPath: file.path) { server in
        for line in try await server.outbox(command) { print(line) }
    }
}
