import ArgumentParser
import ProviderSimulator
import ServiceCommands

/// The program `simulator`.
@main
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.program(
        SimulatorServer.self,
        abstract: "Simulates Apple, Google and Facebook, for development and tests."
    )
}
