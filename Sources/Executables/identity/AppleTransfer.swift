import ArgumentParser
import Glibc
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity apple-transfer`: moves Apple's people to another developer team with their apps.
struct AppleTransfer: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple-transfer",
        abstract: "Move Apple's people to another developer team with their apps.",
        discussion: """
            Apple's names for people are a developer team's own: when apps go to another team everybody gets a new one. With the key \
            of the team that the apps leave, `export --to TEAM` asks Apple by what to hand over each person; then the apps are \
            transferred; with the key of the team that they come to, `import --from TEAM` asks Apple who arrived, and people keep \
            their accounts. It reads the configuration of `serve` and connects as its role. See docs/providers/apple-team-transfer.md.
            """,
        subcommands: [Export.self, Import.self, Status.self]
    )

    /// What the exit code is where somebody was rejected.
    static let somebodyRejected: Int32 = 3

    private static let after = """
        Accounts that Apple has no answer for are told on standard output, a line each, and so is the end; how far it is, on \
        standard error. The exit code is 0 if all is done, \(somebodyRejected) if somebody was rejected, and 1 if it ended before its \
        end; what was done stays done, and the same command goes on from there. It may be killed at any time.
        """

    /// What both halves take.
    struct Options: ParsableArguments {
        @OptionGroup var file: ConfigurationFileOption
        @Option(
            help: ArgumentHelp("The app that asks, if the configuration has apps of several teams.", valueName: "id")
        )
        var clientID: String?
        @Option(help: "How many people Apple is asked about in a second at most.")
        var perSecond = AppleTransferOrder.perSecondDefault
        @Flag(help: "Change nothing: print the number of people, and whether Apple accepts the key.")
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
                    print("\(outcome.total) people would be \(done). Apple takes the key. Nothing was changed")
                    return
                }
                var line = "\(outcome.done) of \(outcome.total) people \(done), \(outcome.rejected) rejected"
                if outcome.gone > 0 { line += ", \(outcome.gone) moved or gone meanwhile" }
                print(line)
                if outcome.rejected > 0 { Program.end(nil, code: somebodyRejected) }
            }
        }
    }

    /// As the team that the apps leave.
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "As the team that the apps leave: ask Apple by what to hand over each person.",
            discussion: after
        )

        @OptionGroup var options: Options
        @Option(help: ArgumentHelp("The team that the apps go to.", valueName: "team"))
        var to: String

        func run() async { await options.run(.export(to: to), done: "handed over") }
    }

    /// As the team that they come to.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "As the team that the apps came to: ask Apple who arrived, and let people keep their accounts.",
            discussion: after
        )

        @OptionGroup var options: Options
        @Option(help: ArgumentHelp("The team that the apps came from.", valueName: "team"))
        var from: String

        func run() async { await options.run(.import(from: from), done: "taken over") }
    }

    /// How far it is.
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
