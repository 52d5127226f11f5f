import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// Forgets what the local stack has stored.
struct CleanData: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean-data",
        abstract: "Forget the local stack's data, secrets and logs; refuses while it runs."
    )

    @OptionGroup var file: ConfigurationFileOption

    func run() {
        let path = file.stackConfiguration()[StackKeys.folder]
        do {
            try StackFolder(path: path).clean()
            print("\(path) is clean")
        } catch {
            Program.end(error, program: "vestibule clean-data")
        }
    }
}
