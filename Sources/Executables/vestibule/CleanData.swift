import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// Deletes the local stack's data.
struct CleanData: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean-data",
        abstract: "Delete the local stack's data, secrets and logs; fails while it runs."
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
