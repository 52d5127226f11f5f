import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule outbox`: the events that services didn't take from each other, of all services.
struct Outbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List events that services have not delivered to each other, and retry or discard them.",
        discussion: """
            An event that its receiver refuses, or fails on sixteen times, is set aside: nothing more is told of the same phone number \
            or account, so that the order stays right. Look at it with `list` and `show`; once the cause is mended, `release` it. One \
            that can never be taken is forgotten with `discard`.

            Asks `identity outbox`, `profile outbox` and `invites outbox` of the programs beside this one (or in the folder that \
            \(StackKeys.programs.name) names), each with its own configuration and database. In containers ask each: \
            docker compose exec profile vestibule-program outbox list, and so on. Events for webhooks: `vestibule webhooks`.
            """,
        subcommands: [List.self, Show.self, Release.self, Discard.self],
        defaultSubcommand: List.self
    )

    /// Shows them.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the events that are set aside, or wait to be tried again.",
            discussion: "Service by service, oldest first. The exit code is 1 if a service does not answer."
        )

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var amount: OutboxAmount
        @OptionGroup var numbers: OutboxNumbers

        func run() {
            var status: Int32 = 0
            for service in ServicePrograms.all {
                let arguments = ["list", "--limit", "\(amount.limit)"] + (numbers.numbers ? ["--numbers"] : [])
                let answer = Outbox.ask(service, arguments, file)
                for line in answer.text.split(separator: "\n") {
                    print(line == "nothing is held" ? "\(service): nothing is held" : "\(service)/\(line)")
                }
                if answer.status != 0 { status = 1 }
            }
            Program.end(nil, code: status)
        }
    }

    /// Shows one.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show all that is known of an event.")

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var numbers: OutboxNumbers
        @Argument(help: "Its name, as `list` shows it, such as profile/invites/17.")
        var name: StackEventName

        func run() {
            Outbox.hand(
                ["show", name.event.description] + (numbers.numbers ? ["--numbers"] : []),
                to: [name.service],
                file
            )
        }
    }

    /// Has them told again.
    struct Release: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Retry events now.")

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their names, as `list` shows them, such as profile/invites/17.")
        var names: [StackEventName] = []
        @Flag(help: "All of them.")
        var all = false

        func validate() throws {
            guard all == names.isEmpty else { throw ValidationError("say which: names, or --all") }
        }

        func run() {
            if all { Outbox.hand(["release", "--all"], to: ServicePrograms.all, file) }
            Outbox.hand("release", names, file)
        }
    }

    /// Forgets them.
    struct Discard: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget events that are set aside; their receiver will never learn of them."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their names, as `list` shows them, such as profile/invites/17.")
        var names: [StackEventName]

        func run() { Outbox.hand("discard", names, file) }
    }
}

extension Outbox {
    private static func ask(
        _ service: String,
        _ arguments: [String],
        _ file: ConfigurationFileOption
    ) -> ServicePrograms.Answer {
        ServicePrograms.ask(
            service,
            ["outbox"] + arguments,
            configurationPath: file.path,
            by: "vestibule outbox \(arguments[0])"
        )
    }

    /// Has services do the same, and ends this process: with 1 if one could not.
    private static func hand(_ arguments: [String], to services: [String], _ file: ConfigurationFileOption) -> Never {
        var status: Int32 = 0
        for service in services {
            let answer = ask(service, arguments, file)
            if !answer.text.isEmpty { print(services.count > 1 ? "\(service): \(answer.text)" : answer.text) }
            if answer.status != 0 { status = 1 }
        }
        Program.end(nil, code: status)
    }

    /// Hands each service the names of its events.
    private static func hand(_ command: String, _ names: [StackEventName], _ file: ConfigurationFileOption) -> Never {
        var status: Int32 = 0
        for service in ServicePrograms.all {
            let named = names.filter { $0.service == service }.map(\.event.description)
            guard !named.isEmpty else { continue }
            let answer = ask(service, [command] + named, file)
            if !answer.text.isEmpty { print("\(service): \(answer.text)") }
            if answer.status != 0 { status = 1 }
        }
        Program.end(nil, code: status)
    }
}

/// By what a person names an event of any service: the service that has it, to whom it is to be told, and its number.
struct StackEventName: ExpressibleByArgument {
    let service: String
    let event: OutboxEventName

    init?(argument: String) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ServicePrograms.all.contains(String(parts[0])),
            let event = OutboxEventName(String(parts[1]))
        else { return nil }
        service = String(parts[0])
        self.event = event
    }
}
