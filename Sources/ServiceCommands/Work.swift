import ArgumentParser
import ServiceKit

/// `work`: what an operator can do about work that is held. `vestibule work` asks all services.
public struct Work<Server: WorkServer>: AsyncParsableCommand {
    /// The command.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "work",
            abstract: "List deliveries and other work that failed, and retry or discard it.",
            discussion: WorkHelp.discussion + """


                It reads the configuration of `serve`, so give it the same environment or file: in a container, \
                `docker compose exec \(Server.programName) vestibule-program work list`.
                """,
            subcommands: [List.self, Show.self, Retry.self, Discard.self],
            defaultSubcommand: List.self
        )
    }

    /// No subcommand yet: ArgumentParser sets it.
    public init() {}

    /// Lists held work.
    struct List: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "list", abstract: WorkHelp.list)
        }

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var options: WorkListOptions
        @OptionGroup var numbers: WorkNumbers

        func run() async {
            await Work.perform(
                .list(
                    queue: options.queue,
                    includesWaiting: options.waiting,
                    limit: options.limit,
                    showsNumbers: numbers.numbers
                ),
                file
            )
        }
    }

    /// Shows one item.
    struct Show: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "show", abstract: WorkHelp.show)
        }

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var numbers: WorkNumbers
        @Argument(help: "Its number as `list` shows it, or the id of the event that it delivers.")
        var name: WorkName

        func run() async { await Work.perform(.show(name, showsNumbers: numbers.numbers), file) }
    }

    /// Retries work.
    struct Retry: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "retry", abstract: WorkHelp.retry)
        }

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their numbers as `list` shows them, or ids of events.")
        var names: [WorkName] = []
        @OptionGroup var many: WorkMany

        func validate() throws { try many.validate(beside: names.count) }

        func run() async { await Work.perform(.retry(many.selection ?? .names(names)), file) }
    }

    /// Discards work.
    struct Discard: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(commandName: "discard", abstract: WorkHelp.discard)
        }

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their numbers as `list` shows them, or ids of events.")
        var names: [WorkName]

        func run() async { await Work.perform(.discard(names), file) }
    }

    private static func perform(_ command: WorkCommand, _ file: ConfigurationFileOption) async {
        await Program.run(Server.self, configurationPath: file.path) { server in
            for line in try await server.work(command) { print(line) }
        }
    }
}

/// The help of `work`, which the services and `vestibule` have.
public enum WorkHelp {
    /// What held work is.
    public static let discussion = """
        Work that fails is retried after growing waits. It is parked, and not retried any more, if its receiver rejects it, fails on it \
        sixteen times, or doesn't take a webhook for three days or answers it with 410. Behind parked work nothing else is delivered \
        about the same phone number or account, so that the order stays right. Look at it with `list` and `show`; once the cause is \
        mended, `retry` it. Work that can never succeed is deleted with `discard`. Parked webhooks are deleted after 30 days.
        """
    /// What `list` does.
    public static let list = "List parked work, and work that failed and waits for its next try, oldest first."
    /// What `show` does.
    public static let show = "Show all details of one item."
    /// What `retry` does.
    public static let retry = "Retry failed work now."
    /// What `discard` does.
    public static let discard = "Delete parked work; its receiver will never learn of it."
}

/// Which work is listed.
public struct WorkListOptions: ParsableArguments {
    /// The queue; nil for all.
    @Option(help: ArgumentHelp("Work of one queue, such as webhooks.shop.", valueName: "name"))
    public var queue: String?
    /// Whether work that didn't fail is listed.
    @Flag(help: "Also list work that has not failed.")
    public var waiting = false
    /// At most, 1 to 10,000.
    @Option(help: ArgumentHelp("The maximum number of items to list.", valueName: "count"))
    public var limit = 100

    /// Nothing chosen yet: ArgumentParser sets it.
    public init() {}

    /// Rejects an amount out of range.
    public func validate() throws {
        guard 1...10_000 ~= limit else { throw ValidationError("--limit is from 1 to 10000") }
    }
}

/// Whether phone numbers are shown.
public struct WorkNumbers: ParsableArguments {
    /// Whether they are.
    @Flag(help: "Show whole phone numbers, not only their last digits.")
    public var numbers = false

    /// Not shown yet: ArgumentParser sets it.
    public init() {}
}

/// All work, or all of a queue, in place of names.
public struct WorkMany: ParsableArguments {
    /// Whether all is meant.
    @Flag(help: "All of it.")
    public var all = false
    /// The queue that is meant.
    @Option(help: ArgumentHelp("All work of one queue, such as webhooks.shop.", valueName: "name"))
    public var queue: String?

    /// Nothing chosen yet: ArgumentParser sets it.
    public init() {}

    /// What is selected; nil for names.
    public var selection: WorkSelection? { queue.map { .queue($0) } ?? (all ? .all : nil) }

    /// Rejects a selection that isn't exactly one of names, `--all` and `--queue`.
    public func validate(beside nameCount: Int) throws {
        guard nameCount <= 1_000 else { throw ValidationError("at most 1000 items") }
        guard [nameCount > 0, all, queue != nil].filter({ $0 }).count == 1 else {
            throw ValidationError("say which: names, --queue, or --all")
        }
    }
}

extension WorkName: ExpressibleByArgument {
    /// The name that an argument is.
    public init?(argument: String) { self.init(argument) }
}
