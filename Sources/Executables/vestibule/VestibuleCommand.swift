import ArgumentParser
import Foundation
import LocalStack
import ServiceCommands
import ServiceKit

/// The program `vestibule`: the whole system on one machine, for development.
@main
struct VestibuleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vestibule",
        abstract: "Runs all of Vestibule on one machine, for development; prepares and operates a deployment.",
        discussion: ConfigurationHelp.text(StackKeys.all),
        version: ProgramVersion.text(of: "vestibule"),
        subcommands: [
            Run.self, RunDemo.self, RunLoad.self, Check.self, Clients.self, Providers.self, Sessions.self, Work.self,
            Account.self,
            Status.self, DoctorCommand.self, ConsoleCommand.self, BackupCommand.self, Restore.self, Rehearse.self,
            Upgrade.self,
            AppleTransfer.self, ImportAccounts.self, Initialize.self, Keys.self, Roles.self, CleanData.self,
        ]
    )

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let environment = ProcessInfo.processInfo.environment
        if let path = OperatorEnvironment.path(arguments: arguments, environment: environment) {
            // Read by this process and by those that it starts.
            setenv(ConfigurationNames.file, path, 1)
        }
        await main(arguments)
    }
}

extension ConfigurationFileOption {
    /// The configuration of the local stack; ends the process if it has errors.
    func stackConfiguration() -> Configuration {
        Program.configuration(keys: StackKeys.all, program: "run", path: path)
    }
}
