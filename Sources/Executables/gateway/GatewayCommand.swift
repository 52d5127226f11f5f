import ArgumentParser
import GatewayService
import ServiceKit

/// The program `gateway`.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Speaks HTTP and JSON to apps, gRPC to the services.",
        discussion: ConfigurationHelp.text(GatewayServer.configurationKeys),
        subcommands: [Serve.self, Healthcheck.self],
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

    func run() async { await Program.serve(GatewayServer.self, configurationPath: file.path) }
}

/// Asks the running gateway whether it and all services are ready.
struct Healthcheck: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Exit with 0 if the running gateway is ready, else 1.")

    @OptionGroup var file: ConfigurationFileOption

    func run() { Program.healthcheckHTTP(GatewayServer.self, path: "/readyz", configurationPath: file.path) }
}
