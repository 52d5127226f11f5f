import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule work`: the held work of all services.
struct Work: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List deliveries and other work that failed, and retry or discard it, in all services.",
        discussion: WorkHelp.discussion + """


            Asks `identity work`, `profile work` and `invites work` of the programs beside this one (or in the \
            folder that \(StackKeys.programs.name) names), each with its own configuration and database. In \
            containers run each: docker compose exec profile vestibule-program work list, and so on.
            """,
        subcommands: [List.self, Show.self, Retry.self, Discard.self],
        defaultSubcommand: List.self
    )

    /// Lists held work.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: WorkHelp.list,
            discussion: "Service by service. The exit code is 1 if a service does not answer."
        )

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var options: WorkListOptions
        @OptionGroup var numbers: WorkNumbers

        func run() {
            var arguments = ["list", "--limit", "\(options.limit)"]
            if let queue = options.queue { arguments += ["--queue", queue] }
            if options.waiting { arguments.append("--waiting") }
            if numbers.numbers { arguments.append("--numbers") }
            var status: Int32 = 0
            for service in ServicePrograms.all {
                let answer = Work.ask(service, arguments, file)
                for line in answer.text.split(separator: "\n") {
                    print(line == "nothing is held" ? "\(service): nothing is held" : "\(service)/\(line)")
                }
                if answer.status != 0 { status = 1 }
            }
            Program.end(nil, code: status)
        }
    }

    /// Shows one item.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: WorkHelp.show)

        @OptionGroup var file: ConfigurationFileOption
        @OptionGroup var numbers: WorkNumbers
        @Argument(help: "Its name as `list` shows it, such as profile/17.")
        var name: StackWorkName

        func run() {
            Work.hand("show", [name], numbers.numbers ? ["--numbers"] : [], file)
        }
    }

    /// Retries work.
    struct Retry: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: WorkHelp.retry)

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their names as `list` shows them, such as profile/17.")
        var names: [StackWorkName] = []
        @OptionGroup var many: WorkMany

        func validate() throws { try many.validate(beside: names.count) }

        func run() {
            switch many.selection {
            case .queue(let queue): Work.hand(["retry", "--queue", queue], to: ServicePrograms.all, file)
            case .all: Work.hand(["retry", "--all"], to: ServicePrograms.all, file)
            case .names, nil: Work.hand("retry", names, [], file)
            }
        }
    }

    /// Discards work.
    struct Discard: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: WorkHelp.discard)

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "Their names as `list` shows them, such as profile/17.")
        var names: [StackWorkName]

        func run() { Work.hand("discard", names, [], file) }
    }
}

extension Work {
    private static func ask(
        _ service: String,
        _ arguments: [String],
        _ file: ConfigurationFileOption
    ) -> ServicePrograms.Answer {
        ServicePrograms.ask(
            service,
            ["work"] + arguments,
            configurationPath: file.path,
            by: "vestibule work \(arguments[0])"
        )
    }

    /// Runs the same command in the services, and ends this process: with 1 if one failed.
    private static func hand(_ arguments: [String], to services: [String], _ file: ConfigurationFileOption) -> Never {
        var status: Int32 = 0
        for service in services {
            let answer = ask(service, arguments, file)
            if !answer.text.isEmpty { print("\(service): \(answer.text)") }
            if answer.status != 0 { status = 1 }
        }
        Program.end(nil, code: status)
    }

    /// Passes each service the names of its items.
    private static func hand(
        _ command: String,
        _ names: [StackWorkName],
        _ options: [String],
        _ file: ConfigurationFileOption
    ) -> Never {
        var status: Int32 = 0
        for service in ServicePrograms.all {
            let named = names.filter { $0.service == service }.map(\.name.description)
            guard !named.isEmpty else { continue }
            let answer = ask(service, [command] + named + options, file)
            if !answer.text.isEmpty { print(command == "show" ? answer.text : "\(service): \(answer.text)") }
            if answer.status != 0 { status = 1 }
        }
        Program.end(nil, code: status)
    }
}

/// How an operator names work of any service: the service, a slash, and the name there.
struct StackWorkName: ExpressibleByArgument {
    let service: String
    let name: WorkName

    init?(argument: String) {
        let parts = argument.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ServicePrograms.all.contains(String(parts[0])), let name = WorkName(String(parts[1]))
        else { return nil }
        service = String(parts[0])
        self.name = name
    }
}
