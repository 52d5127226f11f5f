import ArgumentParser
import ServiceKit

extension CommandConfiguration {
    /// A service with tables: `serve`, which is the default, `migrate`, `healthcheck`, and what the service has besides.
    public static func service<Server: MigratingServer>(
        _ server: Server.Type,
        abstract: String,
        _ others: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        serving(server, abstract: abstract, [Migrate<Server>.self, Healthcheck<Server>.self] + others)
    }

    /// A program without tables: `serve`, which is the default, `healthcheck`, and what the program has besides.
    public static func program<Server: ProgramServer>(
        _ server: Server.Type,
        abstract: String,
        _ others: [any ParsableCommand.Type] = []
    ) -> CommandConfiguration {
        serving(server, abstract: abstract, [Healthcheck<Server>.self] + others)
    }

    private static func serving<Server: ProgramServer>(
        _ server: Server.Type,
        abstract: String,
        _ others: [any ParsableCommand.Type]
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: server.programName,
            abstract: abstract,
            discussion: ConfigurationHelp.text(server.configurationKeys),
            version: ProgramVersion.text(of: server.programName),
            subcommands: [Serve<Server>.self, Doctor<Server>.self] + others,
            defaultSubcommand: Serve<Server>.self
        )
    }
}
