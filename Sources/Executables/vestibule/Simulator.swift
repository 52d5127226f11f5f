import ArgumentParser
import ProviderSimulator
import ServiceKit

/// Plays Apple and Google.
struct Simulator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play Apple and Google, for development and tests.",
        discussion: ConfigurationHelp.text(SimulatorServer.configurationKeys),
        subcommands: [Serve.self, Healthcheck.self],
        defaultSubcommand: Serve.self
    )

    /// Serves until SIGTERM or SIGINT.
    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serve until SIGTERM or SIGINT.")

        @OptionGroup var file: ConfigurationFileOption

        func run() async { await Program.serve(SimulatorServer.self, configurationPath: file.path) }
    }

    /// Asks the running simulator whether it is there.
    struct Healthcheck: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Exit with 0 if the running simulator answers, else 1."
        )

        @OptionGroup var file: ConfigurationFileOption

        func run() { Program.healthcheckHTTP(SimulatorServer.self, path: "/healthz", configurationPath: file.path) }
    }
}
