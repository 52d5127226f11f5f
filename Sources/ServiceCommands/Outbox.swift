import ArgumentParser
import ServiceKit

/// `outbox`: what a person can do about events that another service doesn't take. `vestibule outbox` asks all services.
public struct Outbox<Server: OutboxServer>: AsyncParsableCommand {
    /// The command.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "outbox",
            abstract: "List events that were not delivered to other services, and retry or discard them.",
            discussion: """
                An event that its receiver refuses, or fails on sixteen times, is set aside: nothing more is told of the same phone \
                number or account, so that the order stays right. Look at it with `list` and `show`; once the cause is mended, \
                `release` it. One that can never be taken is forgotten with `discard`.

                It reads the configuration of `serve`, so give it the same environment or file: in a container, \
                `docker compose exec \(Server.programName) vestibule-program outbox list`.
                """,
            subcommands: [List.self, Show.self, Release.self, Discard.self],
            defaultSubcommand: List.self
        )
    }

    /// No subcommand yet: ArgumentParser sets it.
    public init() {}

    /// Shows them.
    struct List: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "list",
                abstract: "Show the events that are set aside, or wait to be tried again, oldest first."
            )
        }

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var amount: OutboxAmount
        @OptionGroup var numbers: OutboxNumbers

        func run() async {
            await Outbox.perform(.list(limit: amount.limit, showsNumbers: numbers.numbers), file)
        }
    }

    /// Shows one.
    struct Show: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "show", abstract: "Show all that is known of an event.")
        }

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var numbers: OutboxNumbers
        @Argument(help: "Its name, as `list` shows it.")
        var name: OutboxEventName

        func run() async { await Outbox.perform(.show(name, showsNumbers: numbers.numbers), file) }
    }

    /// Has them told again.
    struct Release: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "release",
                abstract: "Retry events now.",
                aliases: ["requeue"]
            )
        }

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their names, as `list` shows them.")
        var names: [OutboxEventName] = []
        @Flag(help: "All of them.")
        var all = false

        func validate() throws {
            guard all == names.isEmpty else { throw ValidationError("say which: names, or --all") }
        }

        func run() async { await Outbox.perform(.release(all ? nil : names), file) }
    }

    /// Forgets them.
    struct Discard: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "discard",
                abstract: "Forget events that are set aside; their receiver will never learn of them."
            )
        }

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their names, as `list` shows them.")
        var names: [OutboxEventName]

        func run() async { await Outbox.perform(.discard(names), file) }
    }

    private static func perform(_ command: OutboxCommand, _ file: ConfigurationFileOption) async {
        await Program.run(Server.self, configurationPath: file.path) { server in
            for line in try await server.outbox(command) { print(line) }
        }
    }
}

/// How many events are shown.
public struct OutboxAmount: ParsableArguments {
    /// At most, 1 to 10,000.
    @Option(help: ArgumentHelp("How many are shown at most.", valueName: "count"))
    public var limit = 100

    /// No amount yet: ArgumentParser sets it.
    public init() {}

    /// Refuses an amount that is none.
    public func validate() throws {
        guard 1...10_000 ~= limit else { throw ValidationError("--limit is from 1 to 10000") }
    }
}

/// Whether phone numbers are shown.
public struct OutboxNumbers: ParsableArguments {
    /// Whether they are.
    @Flag(help: "Show whole phone numbers, and not only their last digits.")
    public var numbers = false

    /// Not shown yet: ArgumentParser sets it.
    public init() {}
}

extension OutboxEventName: ExpressibleByArgument {
    /// The name that an argument is.
    public init?(argument: String) { self.init(argument) }
}
