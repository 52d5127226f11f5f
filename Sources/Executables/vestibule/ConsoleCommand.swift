import ArgumentParser
import Console
import ServiceCommands

/// `vestibule console`: the operators' console, which nothing else starts.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.program(
        ConsoleServer.self,
        abstract: "Serve the operators' console: accounts, disputes, queues and charts in a browser."
    )
}
