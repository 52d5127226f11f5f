import ArgumentParser
import LocalStack
import ServiceKit

/// Makes the secrets of a deployment.
struct Initialize: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the secrets in a folder, each in a file that only you can read; keep what is there."
    )

    @Argument(help: "The folder; made if it isn't there.")
    var folder: String

    func run() {
        do {
            let made = try StackFolder(path: folder).initialize()
            for file in made { print("made \(file)") }
            if made.isEmpty { print("everything is there already") }
        } catch {
            Program.end(error, program: "vestibule init")
        }
    }
}
