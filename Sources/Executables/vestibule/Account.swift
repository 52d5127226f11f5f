import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule account`: what operators do with accounts, and what is known of a person in all services.
struct Account: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find, block, unblock, open and export accounts, and end their sessions.",
        discussion: """
            `trace` and `export` ask `identity account`, `profile account` and `invites account` of the programs beside this one \
            (or in the folder that \(StackKeys.programs.name) names), each with its own configuration and database. In \
            containers ask each: docker compose run --rm identity account trace ID, and so on.

            All others call identity by gRPC, as an operator: where callers show certificates, by one that \
            VESTIBULE_IDENTITY_OPERATORS names there, such as `operator.pem` of `vestibule init`. What they do is written into \
            the audit log.

            \(OperatorKeys.help)
            """,
        subcommands: [
            Find.self, Block.self, Unblock.self, Open.self, EndSessions.self, ReleasePhone.self, Disputes.self,
            Events.self,
            Trace.self,
            Export.self,
        ]
    )

    /// Counts what there is, one line for each service.
    struct Trace: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count what each service has of an account.",
            discussion: """
                One line of JSON for each service. The exit code is 0 if nothing is left that a closed account must not have \
                left, 3 if something is, and 1 if a service can't tell.
                """
        )

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "The account's id.")
        var id: AccountID

        func run() {
            let answers = Account.ask("trace", id, file)
            for answer in answers { print(answer.text) }
            Program.end(nil, code: answers.map(\.status).max() ?? 1)
        }
    }

    /// Prints all of it.
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print all that is known of an account, as one JSON object.",
            discussion:
                "What it prints is the person's: give it to nobody else. The audit log records the request."
        )

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "The account's id.")
        var id: AccountID

        func run() {
            let answers = Account.ask("export", id, file)
            let members = answers.map { #""\#($0.program)":\#($0.text)"# }
            print("{" + members.joined(separator: ",") + "}")
        }
    }
}

extension Account {
    /// What a service's exit code is where something of an account is left.
    fileprivate static let somethingLeft: Int32 = 3

    /// What each service answers. Ends this process where one can't tell.
    fileprivate static func ask(_ command: String, _ id: AccountID, _ file: ConfigurationFileOption) -> [ServicePrograms
        .Answer]
    {
        ServicePrograms.all.map { service in
            let answer = ServicePrograms.ask(
                service,
                ["account", command, id.text],
                configurationPath: file.path,
                by: "vestibule account \(command)"
            )
            guard [0, somethingLeft].contains(answer.status) else {
                Program.end("vestibule account \(command): \(service) did not answer", code: 1)
            }
            return answer
        }
    }
}
