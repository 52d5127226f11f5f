import ArgumentParser
import ProviderSimulator
import ServiceKit

/// Plays Apple and Google.
struct Simulator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play Apple and Google on loopback, for development and tests.",
        discussion: ConfigurationHelp.text(SimulatorServer.configurationKeys)
    )

    @OptionGroup var file: ConfigurationFileOption

    func run() async { await Program.serve(SimulatorServer.self, configurationPath: file.path) }
}
