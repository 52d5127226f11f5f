import ArgumentParser
import GatewayService
import ServiceCommands

/// The program `gateway`.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration.program(
        GatewayServer.self,
        abstract: "Serves apps by HTTP and JSON, and calls the services by gRPC.",
        [Sentences.self]
    )
}
