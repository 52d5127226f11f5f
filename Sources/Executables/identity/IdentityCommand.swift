import ArgumentParser
import IdentityService
import ServiceKit

/// The program `identity`.
@main
struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Verifies sign-ins, keeps accounts and sessions.",
        discussion: ConfigurationHelp.text(IdentityServer.configurationKeys),
        subcommands: [Serve.self, Migrate.self, Healthcheck.self],
        defaultSubcommand: Serve.self
    )
}

/// Where the configuration file is.
struct ConfigurationFileOption: ParsableArguments {
    @Option(name: .customLong("config"), help: "A file with lines of KEY=VALUE.")
    var path: String?
}

/// Serves until SIGTERM or SIGINT.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Serve until SIGTERM or SIGINT, then end calls and stop.")

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.serve(IdentityServer.self, configurationPath: file.path) }
}

/// Applies migrations.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Bring the tables up to date and exit.")

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.migrate(IdentityServer.self, configurationPath: file.path) }
}

/// Asks the running service for its health.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Exit with 0 if the running service is serving, else 1.")

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.healthcheck(IdentityServer.self, configurationPath: file.path) }
}
