import ArgumentParser
import ServiceKit

/// `serve`: serves until SIGTERM or SIGINT.
struct Serve<Server: ProgramServer>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "serve",
            abstract: "Serve until SIGTERM or SIGINT, then end calls and stop."
        )
    }

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.serve(Server.self, configurationPath: file.path) }
}
