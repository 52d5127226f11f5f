import ArgumentParser
import Glibc
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity apple-transfer`: moves Apple's users to another developer team with their apps.
struct AppleTransfer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple-transfer",
        abstract: "Move Apple's users to another developer team with their apps.",
        discussion: """
            Apple's user identifiers (`sub`) are valid for one developer team: when apps move to another team, every \
            user gets a new one. First `export --to TEAM` asks Apple for a transfer identifier of each user, with \
            the key of the old team. Then the apps are transferred. Then `import --from TEAM` asks Apple for the new \
            identifiers, with the key of the new team, and users keep their accounts. It reads the configuration of \
            `serve` and connects as its role. See docs/providers/apple-team-transfer.md.
            """,
        subcommands: [Export.self, Import.self, Status.self]
    )

    /// The exit code if Apple rejected users.
    static let somebodyRejected: Int32 = 3

    private static let after = """
        Standard output has a line for each account that Apple rejected, and a summary; standard error has the \
        progress. The exit code is 0 if all is done, \(somebodyRejected) if accounts were rejected, and 1 if the \
        command failed before the end. What was done stays done: the same command continues from there. It may be \
        killed at any time.
        """

    /// The options of both `export` and `import`.
    struct Options: ParsableArguments {
        @OptionGroup var file: ConfigurationFileOption
        @Option(
            help: ArgumentHelp("The requesting app, if the configuration has apps of several teams.", valueName: "id")
        )
        var clientID: String?
        @Option(help: "The maximum of requests to Apple in a second, one for each user.")
        var perSecond = AppleTransferOrder.perSecondDefault
        @Flag(help: "Change nothing: print the number of users, and whether Apple accepts the key.")
        var dryRun = false

        func validate() throws {
            let range = AppleTransferOrder.perSecondRange
            guard range ~= perSecond else {
                throw ValidationError("--per-second must be \(range.lowerBound) to \(range.upperBound)")
            }
        }

        func run(_ step: AppleTransferOrder.Step, done: String) async {
            let order = AppleTransferOrder(step, clientID: clientID, perSecond: perSecond, isDry: dryRun)
            let bar = ProgressBar()
            await Program.run(IdentityServer.self, configurationPath: file.path) { server in
                let outcome: AppleTransferProgress
                do {
                    outcome = try await server.transferApple(order) { bar.tell($0) }
                } catch {
                    bar.end()
                    throw error
                }
                bar.end()
                if dryRun {
                    print("\(outcome.total) people would be \(done). Apple accepts the key. Nothing was changed")
                    return
                }
                var line = "\(outcome.done) of \(outcome.total) people \(done), \(outcome.rejected) rejected"
                if outcome.gone > 0 { line += ", \(outcome.gone) moved or gone meanwhile" }
                print(line)
                if outcome.rejected > 0 { Program.end(nil, code: somebodyRejected) }
            }
        }
    }

    /// `export`, with the key of the old team.
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "For the old team: ask Apple for a transfer identifier of each user.",
            discussion: after
        )

        @OptionGroup var options: Options
        @Option(help: ArgumentHelp("The id of the new team.", valueName: "team"))
        var to: String

        func run() async { await options.run(.export(to: to), done: "handed over") }
    }

    /// `import`, with the key of the new team.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "For the new team: ask Apple for the users' new identifiers, so that they keep their accounts.",
            discussion: after
        )

        @OptionGroup var options: Options
        @Option(help: ArgumentHelp("The id of the old team.", valueName: "team"))
        var from: String

        func run() async { await options.run(.import(from: from), done: "taken over") }
    }

    /// `status`.
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the progress of transfers. Reads the database only."
        )

        @OptionGroup var file: ConfigurationFileOption

        func run() async {
            await Program.run(IdentityServer.self, configurationPath: file.path) { server in
                for line in try await server.appleTransfers() { print(line) }
            }
        }
    }
}
