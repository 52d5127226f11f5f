import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// `vestibule account`: operations on accounts, and the data of a user in all services.
struct Account: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find, list, block, unblock, delete, open and export accounts, and end their sessions.",
        discussion: """
            `trace` and `export` ask `identity account`, `profile account` and `invites account` of the programs \
            beside this one (or in the folder that \(StackKeys.programs.name) names), each with its own \
            configuration and database. In containers run each: docker compose run --rm identity account trace ID, \
            and so on.

            The other commands call identity by gRPC, as an operator. With TLS they need a certificate that \
            VESTIBULE_IDENTITY_OPERATORS allows there, such as `operator.pem` of `vestibule init`. The audit log \
            records what they do.

            \(OperatorKeys.help)
            """,
        subcommands: [
            Find.self, List.self, AccountSessions.self, Groups.self,
            Block.self, Unblock.self, Delete.self, Open.self, EndSessions.self, ReleasePhone.self,
            Disputes.self,
            Events.self,
            Trace.self,
            Export.self,
        ]
    )

    /// Counts the rows about an account, one line for each service.
    struct Trace: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count the rows that each service has about an account.",
            discussion: """
                One line of JSON for each service. The exit code is 0 if no data is left that must be deleted with \
                an account, 3 if there is some, and 1 if a service doesn't respond.
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

    /// Prints all data of an account.
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print all data of an account, as one JSON object.",
            discussion:
                "The output is personal data: give it only to the user. The audit log records the request."
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
    /// A service's exit code if data of a deleted account is left.
    fileprivate static let somethingLeft: Int32 = 3

    /// The output of each service. Ends this process if one fails.
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
