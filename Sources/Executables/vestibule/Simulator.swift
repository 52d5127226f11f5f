import ArgumentParser
import ProviderSimulator
import ServiceCommands

/// `vestibule simulator`: plays Apple and Google.
struct Simulator: AsyncParsableCommand {
    static let configuration = CommandConfiguration.program(
        SimulatorServer.self,
        abstract: "Play Apple and Google, for development and tests."
    )
}
