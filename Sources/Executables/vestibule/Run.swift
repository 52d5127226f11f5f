import ArgumentParser
import FoundationEssentials
import LocalStack
import ServiceCommands
import ServiceKit

/// Starts everything, and stops it at Ctrl-C.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start PostgreSQL, the provider simulator, all services and the gateway; stop them at Ctrl-C."
    )

    @OptionGroup var file: ConfigurationFileOption

    func run() async {
        do {
            let stack = try LocalStack(
                configuration: file.stackConfiguration(),
                configurationPath: file.path,
                environment: ProcessInfo.processInfo.environment
            )
            try await stack.run()
        } catch {
            // The message may have several lines: the last ones of a program's log.
            Program.end("vestibule: \(error)", code: 1)
        }
        Program.end(nil, code: 0)
    }
}
