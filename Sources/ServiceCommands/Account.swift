import ArgumentParser
import FoundationEssentials
import ServiceKit

/// `account`: what a service has of a person. `vestibule account` asks all services.
public struct Account<Server: AccountServer>: AsyncParsableCommand {
    /// What the exit code is where something of an account is left.
    public static var somethingLeft: Int32 { 3 }

    /// The command.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "account",
            abstract: "Print what \(Server.programName) stores of an account.",
            discussion: """
                It reads the configuration of `serve` and connects as its role. What it prints of `export` is a person's data: \
                it belongs to them and into no log.
                """,
            subcommands: [Trace.self, Export.self]
        )
    }

    /// No subcommand yet: ArgumentParser sets it.
    public init() {}

    /// Counts what there is.
    struct Trace: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "trace",
                abstract:
                    "Count what there is of an account; exit with \(somethingLeft) if a closed one must not have left it."
            )
        }

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "The account's id.")
        var id: AccountID

        func run() async {
            await Program.run(Server.self, configurationPath: file.path) { server in
                let trace = try await server.trace(account: id.text)
                print(trace.json(of: Server.programName))
                if !trace.isClean { Program.end(nil, code: somethingLeft) }
            }
        }
    }

    /// Prints all of it.
    struct Export: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "export",
                abstract: "Print all that is known of an account, as JSON."
            )
        }

        @OptionGroup var file: ConfigurationFileOption
        @Argument(help: "The account's id.")
        var id: AccountID

        func run() async {
            await Program.run(Server.self, configurationPath: file.path) { server in
                print(try await server.export(account: id.text))
            }
        }
    }
}

/// An account's id.
public struct AccountID: ExpressibleByArgument, Sendable {
    /// The id as a UUID in lower case.
    public let text: String

    /// The id that an argument names.
    public init?(argument: String) {
        guard let id = UUID(uuidString: argument) else { return nil }
        text = id.uuidString.lowercased()
    }
}
