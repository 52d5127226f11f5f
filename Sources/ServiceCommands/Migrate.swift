import ArgumentParser
import ServiceKit

/// `migrate`: applies migrations.
struct Migrate<Server: MigratingServer>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "migrate", abstract: "Bring the tables up to date and exit.")
    }

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.migrate(Server.self, configurationPath: file.path) }
}
