import ArgumentParser
import LocalStack
import RPCTransport
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
            try await withEventLoopGroup(loopCount: 1, name: "demo") { group in
                try await Demo(configuration: file.stackConfiguration(), group: group).run()
            }
        } catch {
            Program.end(error, program: "vestibule demo")
        }
        Program.end(nil, code: 0)
    }
}
