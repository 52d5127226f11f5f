import ArgumentParser
import ProfileService
import ServiceKit

/// The program `profile`.
@main
struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Keeps names, usernames and phone numbers.",
        discussion: ConfigurationHelp.text(ProfileServer.configurationKeys),
        subcommands: [Serve.self, Migrate.self, Healthcheck.self, Outbox.self],
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

    func run() async { await Program.serve(ProfileServer.self, configurationPath: file.path) }
}

/// Applies migrations.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Bring the tables up to date and exit.")

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.migrate(ProfileServer.self, configurationPath: file.path) }
}

/// Asks the running service for its health.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Exit with 0 if the running service is serving, else 1.")

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.healthcheck(ProfileServer.self, configurationPath: file.path) }
}
