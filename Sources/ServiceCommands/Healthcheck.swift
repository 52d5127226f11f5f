import ArgumentParser
import ServiceKit

/// `healthcheck`: asks the running program whether it can be used.
struct Healthcheck<Server: ProgramServer>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let state =
            switch Server.healthQuestion {
            case .grpc: "service is serving"
            case .http, .edge: "\(Server.programName) is ready"
            }
        return CommandConfiguration(
            commandName: "healthcheck",
            abstract: "Exit with 0 if the running \(state), else 1."
        )
    }

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.healthcheck(Server.self, configurationPath: file.path) }
}
