import ArgumentParser
import GatewayService
import ServiceCommands

/// The program `gateway`.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.program(
        GatewayServer.self,
        abstract: "Speaks HTTP and JSON to apps, gRPC to the services."
    )
}
