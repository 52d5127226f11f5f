import ArgumentParser
import LocalStack
import RPCTransport
import ServiceCommands
import ServiceKit

/// `vestibule demo`: runs the main scenario against a running stack.
struct RunDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run the main scenario against a running stack, and print each step with its duration."
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
