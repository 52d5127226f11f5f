import ArgumentParser
import LocalStack
import ServiceCommands
import ServiceKit

/// Tells the main story to a running stack.
struct RunDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Walk the main story against a running stack and print each step with its time."
    )

    @OptionGroup var file: ConfigurationFileOption

    func run() async {
        do {
            try await Demo(configuration: file.stackConfiguration()).run()
        } catch {
            Program.end(error, program: "vestibule demo")
        }
        Program.end(nil, code: 0)
    }
}
